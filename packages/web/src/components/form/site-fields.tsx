import { Switch } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useSiteChoices } from '../../choices.ts';
import { ChecksField } from './form.tsx';

interface Sites {
  allSites: boolean;
  siteIds: string[];
}

/** The two members as a request has them. */
export const sitesOf = ({ allSites, siteIds }: Sites): Sites => ({
  allSites,
  siteIds: allSites ? [] : siteIds,
});

interface SiteFieldsProps {
  /** Words of the switch, and of the choices beneath it. */
  all: string;
  some: string;
  form: UseFormReturnType<Sites>;
  disabled?: boolean;
}

/** All sites, or some of them by name. */
export function SiteFields({ all, some, form, disabled = false }: SiteFieldsProps) {
  const sites = useSiteChoices();
  return (
    <>
      <Switch label={all} disabled={disabled} {...form.getInputProps('allSites', { type: 'checkbox' })} />
      {!form.values.allSites && (
        <ChecksField label={some} choices={sites} {...form.getInputProps('siteIds')} />
      )}
    </>
  );
}
