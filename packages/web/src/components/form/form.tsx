import { Button, Checkbox, type CheckboxGroupProps, Fieldset, Group, Modal, Stack } from '@mantine/core';
import type { FormErrors } from '@mantine/form';
import type { ReactNode } from 'react';
import { ApiError } from '../../api-error.ts';
import classes from './form.module.css';
import { useSubmit } from './use-submit.ts';

interface FormProps {
  /** The form whose fields these are: it shows what the server refuses. */
  form?: { setErrors: (errors: FormErrors) => void };
  submit?: string;
  onSubmit: () => Promise<unknown>;
  onCancel?: () => void;
  /** Takes something away for good. */
  danger?: boolean;
  /** The button waits until this holds. */
  ready?: boolean;
  children: ReactNode;
}

/** Fields with one button; what the server refuses is shown at its field, the rest above the button. */
export function Form({
  form,
  submit: label = 'Save',
  onSubmit,
  onCancel,
  danger = false,
  ready = true,
  children,
}: FormProps) {
  const { submit, pending, error } = useSubmit(onSubmit, form?.setErrors);
  const details = error instanceof ApiError ? error.details : [];
  return (
    <Stack component="form" gap={12} onSubmit={submit}>
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
      <Group justify="end" gap={8} mt={4}>
        {onCancel && (
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
        )}
        <Button type="submit" loading={pending} disabled={!ready} {...(danger && { color: 'red.8' })}>
          {label}
        </Button>
      </Group>
    </Stack>
  );
}

export type FormDialogProps = Omit<FormProps, 'onCancel'> & Omit<DialogProps, 'children'>;

/** A form in a dialog; it closes when the server took it. */
export function FormDialog({ title, onClose, onSubmit, size, children, ...form }: FormDialogProps) {
  const submit = async () => {
    await onSubmit();
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose} size={size}>
      <Form {...form} onCancel={onClose} onSubmit={submit}>
        {children}
      </Form>
    </Dialog>
  );
}

interface DialogProps {
  title: string;
  onClose: () => void;
  /** Width in pixels. */
  size?: number | undefined;
  children: ReactNode;
}

export function Dialog({ title, onClose, size = 440, children }: DialogProps) {
  return (
    <Modal title={title} opened onClose={onClose} size={size} closeButtonProps={{ 'aria-label': 'Close' }}>
      {children}
    </Modal>
  );
}

/** Asks before something is done that others notice; `confirm` is the word for what will be done. */
export function Confirm({
  title,
  onClose,
  onConfirm,
  confirm,
  danger = true,
  children,
}: Omit<DialogProps, 'size'> & {
  onConfirm: () => Promise<unknown>;
  confirm: string;
  danger?: boolean;
}) {
  return (
    <FormDialog title={title} onClose={onClose} onSubmit={onConfirm} submit={confirm} danger={danger}>
      <div>{children}</div>
    </FormDialog>
  );
}

/** Several of a few choices. */
export const ChecksField = ({
  label,
  choices,
  ...field
}: Omit<CheckboxGroupProps, 'children'> & {
  label: string;
  choices: readonly { value: string; label: string }[];
}) => (
  <FieldGroup label={label}>
    <Checkbox.Group {...field} aria-label={label}>
      <div className={classes.checks}>
        {choices.map((choice) => (
          <Checkbox key={choice.value} {...choice} />
        ))}
      </div>
    </Checkbox.Group>
  </FieldGroup>
);

/** Fields that belong together under a name. */
export const FieldGroup = ({ label, children }: { label: string; children: ReactNode }) => (
  <Fieldset legend={label}>
    <Stack gap={10}>{children}</Stack>
  </Fieldset>
);

/** Two fields beside each other. */
export const Pair = ({ children }: { children: ReactNode }) => <div className={classes.pair}>{children}</div>;
