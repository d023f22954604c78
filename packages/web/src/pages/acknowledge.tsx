import { Button } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useMutation, useQuery } from '@tanstack/react-query';
import { call } from '../api.ts';
import { CaseStatus, Severity } from '../components/show/index.ts';
import classes from './sign-in.module.css';

/** The link of a notice: shows its case, and acknowledges it when that is confirmed. Opening it changes nothing. */
export function Acknowledge() {
  useDocumentTitle('Acknowledge · Rollcall');
  const body = { link: location.hash.slice(1) };
  const found = useQuery({
    queryKey: ['case-link', body.link],
    queryFn: () => call('caseLinks.read', { body }),
    retry: false,
    refetchOnWindowFocus: false,
  });
  const acknowledge = useMutation({ mutationFn: () => call('caseLinks.acknowledge', { body }) });
  const one = (acknowledge.data ?? found.data)?.data;
  const error = acknowledge.error ?? found.error;
  return (
    <main className={classes.page}>
      <section className={classes.card} aria-labelledby="acknowledge">
        <h1 id="acknowledge">{one ? `Case #${one.number}` : 'Rollcall'}</h1>
        {one && (
          <>
            <p>
              {one.title}, {one.site}
            </p>
            <div className="iconed">
              <Severity code={one.severity} />
              <CaseStatus status={one.status} />
            </div>
            {one.acknowledgeable ? (
              <Button
                size="sm"
                autoFocus
                loading={acknowledge.isPending}
                onClick={() => acknowledge.mutate()}
              >
                Acknowledge the case
              </Button>
            ) : (
              <output>{acknowledge.data ? 'Acknowledged. You can close this page.' : STANDS}</output>
            )}
          </>
        )}
        {error && (
          <p role="alert">
            {error.message} (<a href="/cases">cases</a>)
          </p>
        )}
      </section>
    </main>
  );
}

const STANDS = 'Nothing to do: the case is already acknowledged, or it is over.';
