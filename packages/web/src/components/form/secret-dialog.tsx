import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { CopyField } from '../show/index.ts';
import { Dialog } from './form.tsx';

interface SecretDialogProps {
  title: string;
  label: string;
  secret: string;
  note: string;
  onClose: () => void;
  children?: ReactNode;
}

/** A secret that is shown this once, and never again. */
export function SecretDialog({ title, label, secret, note, onClose, children }: SecretDialogProps) {
  return (
    <Dialog title={title} onClose={onClose} size={580}>
      <div className="stack">
        <p>
          Copy it now: it is shown <strong>this once</strong>. {note}
        </p>
        <CopyField text={secret} label={label} />
        {children}
        <Button variant="default" onClick={onClose} style={{ alignSelf: 'flex-end' }}>
          I have it
        </Button>
      </div>
    </Dialog>
  );
}
