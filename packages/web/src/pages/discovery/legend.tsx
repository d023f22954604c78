import { Group } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { call } from '../../api.ts';
import { count } from '../../format.ts';
import classes from './discovery.module.css';
import { OUTCOME_LOOKS } from './outcomes.ts';

interface OutcomeLegendProps {
  scanId: string;
  over: boolean;
  chosen: string | undefined;
  onChoose: (outcome: string | undefined) => void;
}

/** Outcomes in words beside their colours; how often each came, once the scan is over; picking one lists its addresses. */
export function OutcomeLegend({ scanId, over, chosen, onChoose }: OutcomeLegendProps) {
  const counts = useQueries({
    queries: OUTCOME_LOOKS.map(({ outcome }) => ({
      queryKey: ['sweep', scanId, 'count', outcome],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        call('scans.addresses', { params: { scanId }, query: { outcome, pageSize: 1 } }, { signal }),
      enabled: over,
      staleTime: Number.POSITIVE_INFINITY,
    })),
  });
  return (
    <Group gap={2} role="group" aria-label="Outcomes">
      {OUTCOME_LOOKS.map(({ outcome, label, meaning, colour }, i) => {
        const total = counts[i]?.data?.totalCount;
        if (total === 0 && outcome !== chosen) return null;
        return (
          <button
            key={outcome}
            type="button"
            className="pill"
            aria-pressed={chosen === outcome}
            title={meaning}
            onClick={() => onChoose(chosen === outcome ? undefined : outcome)}
          >
            <span className={classes.swatch} style={{ background: `var(${colour})` }} aria-hidden />
            {label}
            {total !== undefined && <span>{count(total)}</span>}
          </button>
        );
      })}
    </Group>
  );
}
