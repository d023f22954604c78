import { SegmentedControl, Switch } from '@mantine/core';
import {
  AUTH_PROTOCOLS,
  type Credential,
  type CredentialChange,
  type CredentialRequest,
  PRIV_PROTOCOLS,
} from '@rollcall/shared/api/credentials';
import { useState } from 'react';
import { useRefresh } from '../../action.ts';
import { call } from '../../api.ts';
import {
  ChecksField,
  ChoiceField,
  FormDialog,
  Pair,
  PasswordField,
  TextField,
} from '../../components/form.tsx';
import { useSiteChoices } from '../../sites.ts';

type Version = Credential['version'];
interface Values {
  name: string;
  version: Version;
  position: string;
  allSites: boolean;
  siteIds: string[];
  community: string;
  user: string;
  authProtocol: string;
  authKey: string;
  privProtocol: string;
  privKey: string;
  contextName: string;
}

const PRIVACY: Record<string, string> = {
  none: 'none',
  des: 'DES',
  aes128: 'AES-128',
  aes192: 'AES-192',
  aes256: 'AES-256',
  aes192r: 'AES-192 (Cisco)',
  aes256r: 'AES-256 (Cisco)',
};

/** A secret that was left empty stays as it is; an empty one that is new is said by the server. */
const secrets = (values: Values) => ({
  ...(values.authKey && { authKey: values.authKey }),
  ...(values.privKey && { privKey: values.privKey }),
});

const bodyOf = (values: Values) => {
  const { name, allSites, siteIds, version } = values;
  const common = { name, position: Number(values.position), allSites, siteIds: allSites ? [] : siteIds };
  if (version !== 'v3') return { ...common, ...(values.community && { community: values.community }) };
  const { user, authProtocol, privProtocol, contextName } = values;
  return { ...common, user, authProtocol, privProtocol, contextName, ...secrets(values) };
};

/** A community or a v3 user; of one that exists, secrets are left alone unless they are typed again. */
export function CredentialForm({
  credential,
  onClose,
}: {
  credential: Credential | undefined;
  onClose: () => void;
}) {
  const sites = useSiteChoices();
  const refresh = useRefresh();
  const [values, setValues] = useState<Values>({
    name: credential?.name ?? '',
    version: credential?.version ?? 'v2c',
    position: String(credential?.position ?? 100),
    allSites: credential?.allSites ?? true,
    siteIds: credential?.siteIds ?? [],
    community: '',
    user: credential?.user ?? '',
    authProtocol: credential?.authProtocol ?? 'sha256',
    authKey: '',
    privProtocol: credential?.privProtocol ?? 'aes128',
    privKey: '',
    contextName: credential?.contextName ?? '',
  });
  const set = (change: Partial<Values>) => setValues({ ...values, ...change });
  const save = async () => {
    const body = bodyOf(values);
    if (credential)
      await call('credentials.update', { params: { id: credential.id }, body: body as CredentialChange });
    else
      await call('credentials.create', {
        body: { ...body, version: values.version } as CredentialRequest,
      });
    refresh('credentials');
  };
  const unchanged = credential ? 'Empty: stays as it is' : undefined;
  return (
    <FormDialog
      title={credential ? `Credential ${credential.name}` : 'New credential'}
      opened
      onClose={onClose}
      onSubmit={save}
      submit="Save"
      size={540}
    >
      {!credential && (
        <SegmentedControl
          aria-label="SNMP version"
          data={['v1', 'v2c', 'v3']}
          value={values.version}
          onChange={(version) => set({ version: version as Version })}
        />
      )}
      <Pair>
        <TextField
          path="name"
          label="Name"
          required
          value={values.name}
          onChange={(name) => set({ name })}
          data-autofocus
        />
        <TextField
          path="position"
          label="Order"
          type="number"
          value={values.position}
          onChange={(position) => set({ position })}
        />
      </Pair>
      {values.version === 'v3' ? (
        <UserFields values={values} set={set} unchanged={unchanged} />
      ) : (
        <PasswordField
          path="community"
          label="Community"
          autoComplete="off"
          description={unchanged}
          required={!credential}
          value={values.community}
          onChange={(community) => set({ community })}
        />
      )}
      <Switch
        label="Used at all sites"
        checked={values.allSites}
        onChange={(event) => set({ allSites: event.currentTarget.checked })}
      />
      {!values.allSites && (
        <ChecksField
          label="Used at"
          choices={sites}
          value={values.siteIds}
          onChange={(siteIds) => set({ siteIds })}
        />
      )}
    </FormDialog>
  );
}

function UserFields({
  values,
  set,
  unchanged,
}: {
  values: Values;
  set: (change: Partial<Values>) => void;
  unchanged: string | undefined;
}) {
  return (
    <>
      <Pair>
        <TextField path="user" label="User" required value={values.user} onChange={(user) => set({ user })} />
        <TextField
          path="contextName"
          label="Context"
          value={values.contextName}
          onChange={(contextName) => set({ contextName })}
        />
      </Pair>
      <Pair>
        <ChoiceField
          path="authProtocol"
          label="Authentication"
          choices={AUTH_PROTOCOLS.map((name) => ({ value: name, label: name }))}
          value={values.authProtocol}
          onChange={(authProtocol) =>
            set({ authProtocol, ...(authProtocol === 'none' && { privProtocol: 'none' }) })
          }
        />
        <PasswordField
          path="authKey"
          label="Authentication pass phrase"
          autoComplete="off"
          description={unchanged}
          disabled={values.authProtocol === 'none'}
          value={values.authKey}
          onChange={(authKey) => set({ authKey })}
        />
      </Pair>
      <Pair>
        <ChoiceField
          path="privProtocol"
          label="Privacy"
          disabled={values.authProtocol === 'none'}
          choices={PRIV_PROTOCOLS.map((name) => ({ value: name, label: PRIVACY[name] ?? name }))}
          value={values.privProtocol}
          onChange={(privProtocol) => set({ privProtocol })}
        />
        <PasswordField
          path="privKey"
          label="Privacy pass phrase"
          autoComplete="off"
          description={unchanged}
          disabled={values.privProtocol === 'none'}
          value={values.privKey}
          onChange={(privKey) => set({ privKey })}
        />
      </Pair>
    </>
  );
}
