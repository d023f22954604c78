import { Button, Input } from '@mantine/core';
import type { FormErrors } from '@mantine/form';
import type { Preview } from '@rollcall/shared/api/subscriptions';
import { IconEye } from '@tabler/icons-react';
import { useState } from 'react';
import { call, type Request } from '../../api.ts';
import { useSubmit } from '../../components/form/index.ts';
import { Scroller } from '../../components/page/index.ts';
import classes from './notifications.module.css';

interface PreviewOfProps {
  body: () => Request<'subscriptions.preview'>['body'];
  form: { setErrors: (errors: FormErrors) => void };
}

/** Shows what would be sent as the form stands; what is wrong is said at its field. */
export function PreviewOf({ body, form }: PreviewOfProps) {
  const [shown, setShown] = useState<Preview>();
  const { submit, pending, error } = useSubmit(async () => {
    setShown(undefined);
    setShown((await call('subscriptions.preview', { body: body() })).data);
  }, form.setErrors);
  return (
    <div className={classes.preview}>
      <Button
        variant="default"
        size="xs"
        leftSection={<IconEye size={14} />}
        loading={pending}
        onClick={() => void submit()}
      >
        Preview
      </Button>
      {error !== undefined && (
        <Input.Error role="alert">{error instanceof Error ? error.message : String(error)}</Input.Error>
      )}
      {shown && (
        // The button is at the end of a long form: what it shows would be out of sight.
        <div className={classes.shown} ref={(made) => made?.scrollIntoView({ block: 'nearest' })}>
          <Scroller className={classes.payload} label="What would be sent">
            <pre>
              {[
                shown.to,
                ...shown.headers.map(({ name, value }) => `${name}: ${value}`),
                '',
                shown.body,
              ].join('\n')}
            </pre>
          </Scroller>
        </div>
      )}
    </div>
  );
}
