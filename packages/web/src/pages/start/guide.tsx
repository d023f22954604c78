import type { Summary } from '@rollcall/shared/api/service';
import { IconCircle, IconCircleCheckFilled, IconCircleDashed } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { apiQuery } from '../../api.ts';
import { Panel } from '../../components/page/index.ts';
import classes from './start.module.css';
import { type Facts, nextOf, type Step, stepsOf } from './steps.ts';
import { TestCredentials } from './test-credentials.tsx';

const ONE = { query: { pageSize: 1 } };

/** What the steps need to know; undefined until all of it is there. */
function useFacts(summary: Summary): Facts | undefined {
  const sites = useQuery(apiQuery('sites.list', ONE)).data;
  const collectors = useQuery(apiQuery('collectors.list', ONE)).data;
  const credentials = useQuery(apiQuery('credentials.list', ONE)).data;
  const scans = useQuery(apiQuery('scans.list', ONE)).data;
  const subscriptions = useQuery(apiQuery('subscriptions.list', ONE)).data;
  const users = useQuery(apiQuery('users.list', ONE)).data;
  if (!sites || !collectors || !credentials || !scans || !subscriptions || !users) return undefined;
  return {
    summary,
    sites: sites.totalCount,
    collectors: collectors.totalCount,
    credentials: credentials.totalCount,
    scans: scans.totalCount,
    subscriptions: subscriptions.totalCount,
    users: users.totalCount,
  };
}

/** The first steps of an installation: what is done, and what comes next. For administrators. */
export function Guide({ summary }: { summary: Summary }) {
  const facts = useFacts(summary);
  if (!facts) return null;
  const steps = stepsOf(facts);
  const next = nextOf(steps);
  const done = steps.filter((step) => step.done).length;
  return (
    <Panel title="Set up this installation" note={`${done} of ${steps.length} done`}>
      <ol className={classes.steps}>
        {steps.map((step) => (
          <Line key={step.id} step={step} next={step === next} facts={facts} />
        ))}
      </ol>
    </Panel>
  );
}

function Line({ step, next, facts }: { step: Step; next: boolean; facts: Facts }) {
  const { id, title, why, done, state, optional, action } = step;
  const Mark = done ? IconCircleCheckFilled : optional ? IconCircleDashed : IconCircle;
  return (
    <li className={classes.step} aria-current={next ? 'step' : undefined}>
      <Mark size={18} className={classes.mark} data-done={done || undefined} aria-hidden />
      <div className={classes.words}>
        <h3>
          {title}
          <span className="hidden">{done ? ': done' : next ? ': next' : ': not done'}</span>
        </h3>
        <p>{why}</p>
        {id === 'credentials' && facts.credentials > 0 && facts.summary.collectors.online > 0 && (
          <TestCredentials />
        )}
      </div>
      <span className={classes.state}>{state}</span>
      <Link {...action.link} className={classes.action} data-next={next || undefined}>
        {action.label}
      </Link>
    </li>
  );
}
