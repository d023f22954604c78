import {
  Button,
  Checkbox,
  Modal,
  PasswordInput,
  type PasswordInputProps,
  Select,
  type SelectProps,
  Switch,
  type SwitchProps,
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
  submit = 'Save',
  onSubmit,
  onCancel,
  danger = false,
  ready = true,
  children,
}: FormProps) {
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
  onClose,
  onSubmit,
  size,
  children,
  ...form
}: Omit<FormProps, 'onCancel'> & Omit<DialogProps, 'children'>) {
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

type KeysOf<Values, Type> = {
  [Name in keyof Values]-?: Values[Name] extends Type ? Name : never;
}[keyof Values] &
  string;

/** The values of a form, and what ties each to its field: `<TextField label="Name" {...fields.text('name')} />`. */
export function useFields<Values extends object>(initial: Values | (() => Values)) {
  const [values, setValues] = useState(initial);
  const set = (change: Partial<Values>) => setValues((old) => ({ ...old, ...change }));
  const put = (name: string) => (value: unknown) => set({ [name]: value } as Partial<Values>);
  return {
    values,
    set,
    /** `path` is where the request has it, when that is not its name. */
    text: <Name extends KeysOf<Values, string>>(name: Name, path: string = name) => ({
      path,
      value: values[name] as string,
      onChange: put(name) as (value: string) => void,
    }),
    flag: <Name extends KeysOf<Values, boolean>>(name: Name) => ({
      checked: values[name] as boolean,
      onChange: put(name) as (checked: boolean) => void,
    }),
    list: <Name extends KeysOf<Values, readonly string[]>>(name: Name) => ({
      value: values[name] as readonly string[],
      onChange: put(name) as (value: string[]) => void,
    }),
  };
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

export function SwitchField({
  onChange,
  ...props
}: Omit<SwitchProps, 'onChange'> & { onChange: (checked: boolean) => void }) {
  return <Switch {...props} onChange={(event) => onChange(event.currentTarget.checked)} />;
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
