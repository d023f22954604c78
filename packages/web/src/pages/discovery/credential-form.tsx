import { SegmentedControl } from '@mantine/core';
import {
  AUTH_PROTOCOLS,
  type Credential,
  type CredentialChange,
  type CredentialRequest,
  PRIV_PROTOCOLS,
} from '@rollcall/shared/api/credentials';
import { useSend } from '../../action.ts';
import type { FormOf } from '../../components/collection.tsx';
import {
  ChoiceField,
  FormDialog,
  Pair,
  PasswordField,
  TextField,
  useFields,
} from '../../components/form.tsx';
import { SiteFields, sitesOf } from '../../components/site-fields.tsx';

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
  const { name, version } = values;
  const common = { name, position: Number(values.position), ...sitesOf(values) };
  if (version !== 'v3') return { ...common, ...(values.community && { community: values.community }) };
  const { user, authProtocol, privProtocol, contextName } = values;
  return { ...common, user, authProtocol, privProtocol, contextName, ...secrets(values) };
};

/** A community or a v3 user; of one that exists, secrets are left alone unless they are typed again. */
export function CredentialForm({ one, onClose }: FormOf<Credential>) {
  const send = useSend();
  const fields = useFields<Values>({
    name: one?.name ?? '',
    version: one?.version ?? 'v2c',
    position: String(one?.position ?? 100),
    allSites: one?.allSites ?? true,
    siteIds: one?.siteIds ?? [],
    community: '',
    user: one?.user ?? '',
    authProtocol: one?.authProtocol ?? 'sha256',
    authKey: '',
    privProtocol: one?.privProtocol ?? 'aes128',
    privKey: '',
    contextName: one?.contextName ?? '',
  });
  const { values, set, text } = fields;
  const save = () => {
    const body = bodyOf(values);
    if (one) return send('credentials.update', { params: { id: one.id }, body: body as CredentialChange });
    return send('credentials.create', { body: { ...body, version: values.version } as CredentialRequest });
  };
  const unchanged = one ? 'Empty: stays as it is' : undefined;
  return (
    <FormDialog
      title={one ? `Credential ${one.name}` : 'New credential'}
      onClose={onClose}
      onSubmit={save}
      size={540}
    >
      {!one && (
        <SegmentedControl
          aria-label="SNMP version"
          data={['v1', 'v2c', 'v3']}
          value={values.version}
          onChange={(version) => set({ version: version as Version })}
        />
      )}
      <Pair>
        <TextField label="Name" required data-autofocus {...text('name')} />
        <TextField label="Order" type="number" {...text('position')} />
      </Pair>
      {values.version === 'v3' ? (
        <UserFields fields={fields} unchanged={unchanged} />
      ) : (
        <PasswordField
          label="Community"
          autoComplete="off"
          description={unchanged}
          required={!one}
          {...text('community')}
        />
      )}
      <SiteFields all="Used at all sites" some="Used at" values={values} set={set} />
    </FormDialog>
  );
}

function UserFields({
  fields: { values, set, text },
  unchanged,
}: {
  fields: ReturnType<typeof useFields<Values>>;
  unchanged: string | undefined;
}) {
  const without = { auth: values.authProtocol === 'none', priv: values.privProtocol === 'none' };
  return (
    <>
      <Pair>
        <TextField label="User" required {...text('user')} />
        <TextField label="Context" {...text('contextName')} />
      </Pair>
      <Pair>
        <ChoiceField
          label="Authentication"
          choices={AUTH_PROTOCOLS.map((name) => ({ value: name, label: name }))}
          {...text('authProtocol')}
          onChange={(authProtocol) =>
            set({ authProtocol, ...(authProtocol === 'none' && { privProtocol: 'none' }) })
          }
        />
        <PasswordField
          label="Authentication pass phrase"
          autoComplete="off"
          description={unchanged}
          disabled={without.auth}
          {...text('authKey')}
        />
      </Pair>
      <Pair>
        <ChoiceField
          label="Privacy"
          disabled={without.auth}
          choices={PRIV_PROTOCOLS.map((name) => ({ value: name, label: PRIVACY[name] ?? name }))}
          {...text('privProtocol')}
        />
        <PasswordField
          label="Privacy pass phrase"
          autoComplete="off"
          description={unchanged}
          disabled={without.priv}
          {...text('privKey')}
        />
      </Pair>
    </>
  );
}
