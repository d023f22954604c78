import type { FormErrors } from '@mantine/form';
import { type FormEvent, useState } from 'react';
import { ApiError, type ProblemDetail } from '../../api-error.ts';

/** What the server refused, by field; what it says of `networks.0` is shown at the field `networks`. */
export function fieldErrors(details: readonly ProblemDetail[]): FormErrors {
  const errors: FormErrors = {};
  for (const { path, message } of details) {
    const names = path.split('.');
    for (let length = names.length; length > 0; length -= 1)
      errors[names.slice(0, length).join('.')] ??= message;
  }
  return errors;
}

/** Sends a form once at a time; `setErrors` is told what the server refused. */
export function useSubmit(send: () => Promise<unknown>, setErrors?: (errors: FormErrors) => void) {
  const [pending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async (event?: FormEvent) => {
    event?.preventDefault();
    if (pending) return;
    setPending(true);
    setError(undefined);
    setErrors?.({});
    try {
      await send();
    } catch (problem) {
      setError(problem);
      if (problem instanceof ApiError) setErrors?.(fieldErrors(problem.details));
    } finally {
      setPending(false);
    }
  };
  return { submit, pending, error };
}
