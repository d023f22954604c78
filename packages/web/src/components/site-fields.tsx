import { useSiteChoices } from '../sites.ts';
import { ChecksField, SwitchField } from './form.tsx';

interface Sites {
  allSites: boolean;
  siteIds: string[];
}

/** The two members as a request has them. */
export const sitesOf = ({ allSites, siteIds }: Sites): Sites => ({
  allSites,
  siteIds: allSites ? [] : siteIds,
});

/** All sites, or some of them by name. */
export function SiteFields({
  all,
  some,
  values: { allSites, siteIds },
  set,
  disabled = false,
}: {
  /** Words of the switch, and of the choices beneath it. */
  all: string;
  some: string;
  values: Sites;
  set: (change: Partial<Sites>) => void;
  disabled?: boolean;
}) {
  const sites = useSiteChoices();
  return (
    <>
      <SwitchField
        label={all}
        checked={allSites}
        disabled={disabled}
        onChange={(checked) => set({ allSites: checked })}
      />
      {!allSites && (
        <ChecksField label={some} choices={sites} value={siteIds} onChange={(ids) => set({ siteIds: ids })} />
      )}
    </>
  );
}
