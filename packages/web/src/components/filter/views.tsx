import { ActionIcon, Button, Popover, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconBookmarkPlus, IconX } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { memo, useState } from 'react';
import { savePreferences, usePreferences, type View } from '../../preferences.ts';
import classes from './views.module.css';

interface BuiltInView {
  name: string;
  search: Record<string, string>;
}

const same = (a: Record<string, unknown>, b: Record<string, unknown>): boolean => {
  const text = (search: Record<string, unknown>) =>
    JSON.stringify(
      Object.entries(search)
        .filter(([name, value]) => name !== 'kiosk' && value !== undefined)
        .sort(),
    );
  return text(a) === text(b);
};

/** Filters under names, one click away: those of the product, then the person's own. */
export const Views = memo(function Views({
  list,
  search,
  builtIn,
  columns = [],
  onColumns,
}: {
  /** Name of the list in the preferences. */
  list: string;
  search: Record<string, string | undefined>;
  builtIn: readonly BuiltInView[];
  /** Where the columns can be chosen: those shown are kept with the view. */
  columns?: string[];
  onColumns?: (columns: string[]) => void;
}) {
  const { views } = usePreferences();
  const own = views[list] ?? [];
  const keep = (next: View[]) => savePreferences({ views: { ...views, [list]: next } });
  const known = [...builtIn, ...own].some((view) => same(view.search, search));
  return (
    <nav className={classes.views} aria-label="Views">
      {builtIn.map((view) => (
        <ViewLink key={view.name} view={view} search={search} />
      ))}
      {own.map((view) => (
        <span key={view.name} className={classes.own}>
          <ViewLink view={view} search={search} onOpen={() => onColumns?.(view.columns)} />
          <ActionIcon
            variant="transparent"
            color="gray"
            size="xs"
            aria-label={`Delete the view ${view.name}`}
            onClick={() => keep(own.filter((one) => one !== view))}
          >
            <IconX size={12} />
          </ActionIcon>
        </span>
      ))}
      {!known && (
        <SaveView
          onSave={(name) => {
            const filters = Object.entries(search).filter(
              (entry): entry is [string, string] => entry[1] !== undefined && entry[0] !== 'kiosk',
            );
            keep([
              ...own.filter((one) => one.name !== name),
              { name, search: Object.fromEntries(filters), columns },
            ]);
          }}
        />
      )}
    </nav>
  );
});

interface ViewLinkProps {
  view: BuiltInView;
  search: Record<string, string | undefined>;
  onOpen?: () => void;
}

function ViewLink({ view, search, onOpen }: ViewLinkProps) {
  const active = same(view.search, search);
  return (
    <Link
      to="."
      search={view.search as never}
      className="pill"
      activeProps={{}}
      data-active={active || undefined}
      aria-current={active ? 'true' : undefined}
      {...(onOpen && { onClick: onOpen })}
    >
      {view.name}
    </Link>
  );
}

function SaveView({ onSave }: { onSave: (name: string) => void }) {
  const [opened, setOpened] = useState(false);
  const form = useForm({ initialValues: { name: '' } });
  const name = form.values.name.trim();
  const save = form.onSubmit(() => {
    onSave(name);
    setOpened(false);
    form.reset();
  });
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-start" trapFocus>
      <Popover.Target>
        <Button
          variant="subtle"
          size="compact-xs"
          leftSection={<IconBookmarkPlus size={13} aria-hidden />}
          onClick={() => setOpened((was) => !was)}
        >
          Save view
        </Button>
      </Popover.Target>
      <Popover.Dropdown p="xs" aria-label="Save view">
        <form onSubmit={save} style={{ display: 'flex', gap: 6 }}>
          <TextInput
            aria-label="Name of the view"
            placeholder="Name"
            maxLength={40}
            data-autofocus
            {...form.getInputProps('name')}
          />
          <Button type="submit" disabled={!name}>
            Save
          </Button>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
