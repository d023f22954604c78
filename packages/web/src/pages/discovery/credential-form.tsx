import { PasswordInput, SegmentedControl, Select, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import {
  AUTH_PROTOCOLS,
  type Credential,
  type CredentialChange,
  type CredentialRequest,
  PRIV_PROTOCOLS,
} from '@rollcall/shared/api/credentials';
import { Pair, SiteFields, sitesOf } from '../../components/form/index.ts';
import type { FormOf } from '../../components/list/index.ts';
import { EditDialog } from '../../components/list/index.ts';
import { AUTHENTICATION, PRIVACY } from './choices.ts';

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
export function CredentialForm(props: FormOf<Credential>) {
  const { one } = props;
  const form = useForm<Values>({
    initialValues: {
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
    },
  });
  const { values } = form;
  const unchanged = one ? 'Empty: stays as it is' : undefined;
  return (
    <EditDialog
      kind="credentials"
      of={props}
      form={form}
      create={() => ({ ...bodyOf(values), version: values.version }) as CredentialRequest}
      update={() => bodyOf(values) as CredentialChange}
      size={540}
    >
      {!one && (
        <SegmentedControl
          aria-label="SNMP version"
          data={['v1', 'v2c', 'v3']}
          {...form.getInputProps('version')}
        />
      )}
      <Pair>
        <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
        <TextInput
          label="Order"
          description="The lowest is tried first"
          type="number"
          {...form.getInputProps('position')}
        />
      </Pair>
      {values.version === 'v3' ? (
        <UserFields form={form} unchanged={unchanged} />
      ) : (
        <PasswordInput
          label="Community"
          autoComplete="off"
          description={unchanged}
          required={!one}
          {...form.getInputProps('community')}
        />
      )}
      <SiteFields all="Used at all sites" some="Used at" form={form} />
    </EditDialog>
  );
}

function UserFields({ form, unchanged }: { form: UseFormReturnType<Values>; unchanged: string | undefined }) {
  const { values } = form;
  const without = { auth: values.authProtocol === 'none', priv: values.privProtocol === 'none' };
  return (
    <>
      <Pair>
        <TextInput label="User" required {...form.getInputProps('user')} />
        <TextInput label="Context name" {...form.getInputProps('contextName')} />
      </Pair>
      <Pair>
        <Select
          label="Authentication"
          data={AUTH_PROTOCOLS.map((name) => ({ value: name, label: AUTHENTICATION[name] }))}
          {...form.getInputProps('authProtocol')}
          onChange={(authProtocol) =>
            authProtocol &&
            form.setValues({ authProtocol, ...(authProtocol === 'none' && { privProtocol: 'none' }) })
          }
        />
        <PasswordInput
          label="Authentication pass phrase"
          autoComplete="off"
          description={unchanged}
          disabled={without.auth}
          {...form.getInputProps('authKey')}
        />
      </Pair>
      <Pair>
        <Select
          label="Privacy"
          disabled={without.auth}
          data={PRIV_PROTOCOLS.map((name) => ({ value: name, label: PRIVACY[name] }))}
          {...form.getInputProps('privProtocol')}
        />
        <PasswordInput
          label="Privacy pass phrase"
          autoComplete="off"
          description={unchanged}
          disabled={without.priv}
          {...form.getInputProps('privKey')}
        />
      </Pair>
    </>
  );
}
