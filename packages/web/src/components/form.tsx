import {
  Button,
  Checkbox,
  Modal,
  PasswordInput,
  type PasswordInputProps,
  Select,
  type SelectProps,
  Textarea,
  type TextareaProps,
  TextInput,
  type TextInputProps,
} from '@mantine/core';
import { createContext, type FormEvent, type ReactNode, useContext, useState } from 'react';
import { ApiError, type ProblemDetail } from '../api.ts';
import classes from './form.module.css';

const Problems = createContext<readonly ProblemDetail[]>([]);
/** What the server said of one field of the request. */
const useProblemOf = (path: string): string | undefined =>
  useContext(Problems).find((detail) => detail.path === path || detail.path.startsWith(`${path}.`))?.message;

export interface FormProps {
  submit: string;
  onSubmit: () => Promise<unknown>;
  onCancel?: () => void;
  /** Takes something away for good. */
  danger?: boolean;
  /** The button waits until this holds. */
  ready?: boolean;
  children: ReactNode;
}

/** Fields with one button; what the server refuses is shown at its field, the rest above the button. */
export function Form({ submit, onSubmit, onCancel, danger = false, ready = true, children }: FormProps) {
  const [pending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (pending || !ready) return;
    setPending(true);
    setError(undefined);
    try {
      await onSubmit();
    } catch (problem) {
      setError(problem);
    } finally {
      setPending(false);
    }
  };
  const details = error instanceof ApiError ? error.details : [];
  return (
    <Problems value={details}>
      <form className={classes.form} onSubmit={send}>
        {children}
        {error !== undefined && (
          <div className={classes.problem} role="alert">
            {error instanceof Error ? error.message : String(error)}
            {details.length > 1 && (
              <ul>
                {details.map((detail) => (
                  <li key={`${detail.path} ${detail.message}`}>
                    {detail.path}: {detail.message}
                  </li>
                ))}
              </ul>
            )}
          </div>
        )}
        <div className={classes.buttons}>
          {onCancel && (
            <Button variant="default" onClick={onCancel}>
              Cancel
            </Button>
          )}
          <Button type="submit" loading={pending} disabled={!ready} {...(danger && { color: 'red.8' })}>
            {submit}
          </Button>
        </div>
      </form>
    </Problems>
  );
}

/** A form in a dialog; it closes when the server took it. */
export function FormDialog({
  title,
  opened,
  onClose,
  onSubmit,
  size = 440,
  children,
  ...form
}: Omit<FormProps, 'onCancel'> & { title: string; opened: boolean; onClose: () => void; size?: number }) {
  return (
    <Dialog title={title} opened={opened} onClose={onClose} size={size}>
      <Form
        {...form}
        onCancel={onClose}
        onSubmit={async () => {
          await onSubmit();
          onClose();
        }}
      >
        {children}
      </Form>
    </Dialog>
  );
}

export function Dialog({
  title,
  opened,
  onClose,
  size = 440,
  children,
}: {
  title: string;
  opened: boolean;
  onClose: () => void;
  size?: number;
  children: ReactNode;
}) {
  return (
    <Modal
      title={title}
      opened={opened}
      onClose={onClose}
      size={size}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {children}
    </Modal>
  );
}

type Named<Props> = Omit<Props, 'error' | 'onChange' | 'value' | 'data'> & {
  /** Path of the request's member, for the server's objections. */
  path: string;
  value: string;
  onChange: (value: string) => void;
};

export function TextField({ path, onChange, ...props }: Named<TextInputProps>) {
  const error = useProblemOf(path);
  return <TextInput {...props} error={error} onChange={(event) => onChange(event.currentTarget.value)} />;
}

export function PasswordField({ path, onChange, ...props }: Named<PasswordInputProps>) {
  const error = useProblemOf(path);
  return <PasswordInput {...props} error={error} onChange={(event) => onChange(event.currentTarget.value)} />;
}

export function LinesField({ path, onChange, ...props }: Named<TextareaProps>) {
  const error = useProblemOf(path);
  return (
    <Textarea
      autosize
      minRows={2}
      maxRows={10}
      {...props}
      error={error}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

export function ChoiceField({
  path,
  onChange,
  choices,
  ...props
}: Named<SelectProps> & { choices: readonly { value: string; label: string }[] }) {
  const error = useProblemOf(path);
  return (
    <Select
      {...props}
      data={[...choices]}
      allowDeselect={false}
      error={error}
      onChange={(value) => value !== null && onChange(value)}
    />
  );
}

/** Several of a few choices. */
export function ChecksField({
  label,
  choices,
  value,
  onChange,
}: {
  label: string;
  choices: readonly { value: string; label: string }[];
  value: readonly string[];
  onChange: (value: string[]) => void;
}) {
  return (
    <Group label={label}>
      <div className={classes.checks}>
        {choices.map((choice) => (
          <Checkbox
            key={choice.value}
            label={choice.label}
            checked={value.includes(choice.value)}
            onChange={(event) =>
              onChange(
                event.currentTarget.checked
                  ? [...value, choice.value]
                  : value.filter((one) => one !== choice.value),
              )
            }
          />
        ))}
      </div>
    </Group>
  );
}

/** Fields that belong together under a name. */
export function Group({ label, children }: { label: string; children: ReactNode }) {
  return (
    <fieldset className={classes.group}>
      <legend>{label}</legend>
      <div>{children}</div>
    </fieldset>
  );
}

/** Two fields beside each other. */
export const Pair = ({ children }: { children: ReactNode }) => <div className={classes.pair}>{children}</div>;

/** Asks before something is done that others notice. */
export function Confirm({
  title,
  opened,
  onClose,
  onConfirm,
  confirm,
  danger = true,
  children,
}: {
  title: string;
  opened: boolean;
  onClose: () => void;
  onConfirm: () => Promise<unknown>;
  /** Word of the button: what will be done. */
  confirm: string;
  danger?: boolean;
  children: ReactNode;
}) {
  return (
    <FormDialog
      title={title}
      opened={opened}
      onClose={onClose}
      onSubmit={onConfirm}
      submit={confirm}
      danger={danger}
    >
      <div>{children}</div>
    </FormDialog>
  );
}
