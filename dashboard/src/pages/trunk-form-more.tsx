import {
  Checkbox,
  Fieldset,
  NativeSelect,
  SimpleGrid,
  Stack,
  TextInput,
  Textarea,
} from '@mantine/core'
import type { Trunk } from './trunks.tsx'

interface MoreOfTrunkProps {
  readonly trunk: Trunk | undefined
  /** What was set, as text. */
  readonly text: (name: string) => string
}

/** The members of a trunk that most carriers do not ask for. */
export const MoreOfTrunk = ({ trunk, text }: MoreOfTrunkProps) => (
  <>
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <TextInput
        name="strip"
        label="Strip"
        type="number"
        min={0}
        max={10}
        description="Digits taken from the front before the prefix."
        defaultValue={text('strip') || '0'}
      />
      <TextInput
        name="codecs"
        label="Codecs"
        description="Best first: pcmu, pcma"
        defaultValue={text('codecs') || 'pcmu, pcma'}
      />
      <NativeSelect
        name="dtmf"
        label="Keys (DTMF)"
        data={['auto', 'rfc4733', 'info', 'inband']}
        defaultValue={text('dtmf') || 'auto'}
      />
      <NativeSelect
        name="media"
        label="Where audio may come from"
        data={['declared', 'symmetric']}
        defaultValue={text('media') || 'declared'}
      />
      <NativeSelect
        name="privacy"
        label="Privacy"
        description="id hides the caller ID from the callee."
        data={['none', 'id']}
        defaultValue={text('privacy') || 'none'}
      />
      <TextInput
        name="diversion"
        label="Diversion"
        description="A number, E.164."
        defaultValue={text('diversion')}
      />
      <NativeSelect
        name="auth"
        label="Weakest digest"
        data={[
          { value: '', label: 'md5, with a warning' },
          'rfc2069',
          'md5',
          'sha-256',
          'sha-512-256',
        ]}
        defaultValue={text('auth')}
      />
      <TextInput
        name="redirect_to"
        label="Redirects"
        description="Hosts that a 3xx may lead to, with commas."
        defaultValue={text('redirect_to')}
      />
      <TextInput
        name="register_seconds"
        label="Seconds of a registration"
        type="number"
        min={60}
        defaultValue={text('register_seconds') || '600'}
      />
    </SimpleGrid>
    <Textarea
      name="organizations"
      label="Organizations"
      description="all, or the ids of live ones, one a line."
      autosize
      minRows={1}
      defaultValue={text('organizations') || 'all'}
    />
    <TlsOfTrunk trunk={trunk} />
  </>
)

const TlsOfTrunk = ({ trunk }: Pick<MoreOfTrunkProps, 'trunk'>) => {
  const tls = tlsOf(trunk)
  const text = (name: string): string => {
    const value = tls[name]
    return typeof value === 'string' ? value : ''
  }
  return (
    <Fieldset legend="TLS of this trunk">
      <Stack gap="xs">
        <Textarea
          name="tls_ca"
          label="Authorities (PEM)"
          description="The gateway’s certificate must come from one of them."
          autosize
          minRows={1}
          maxRows={6}
          defaultValue={text('ca')}
        />
        <Textarea
          name="tls_certificate"
          label="Our client certificate (PEM)"
          autosize
          minRows={1}
          maxRows={6}
          defaultValue={text('certificate')}
        />
        <Textarea
          name="tls_key"
          label="Its key (PEM)"
          autoComplete="off"
          description={trunk?.has_tls_key ? 'Empty: it stays.' : undefined}
          autosize
          minRows={1}
          maxRows={6}
        />
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput
            name="tls_server_name"
            label="Host in the certificate"
            description="Empty: the gateway’s."
            defaultValue={text('server_name')}
          />
          <NativeSelect
            name="tls_min_version"
            label="Oldest version"
            data={[{ value: '', label: 'TLSv1.2' }, 'TLSv1.3']}
            defaultValue={text('min_version') === 'TLSv1.3' ? 'TLSv1.3' : ''}
          />
        </SimpleGrid>
        <Checkbox
          name="tls_insecure"
          label="Take any certificate"
          description="Its password and calls can then be read on the way."
          defaultChecked={tls['verify'] === false}
        />
      </Stack>
    </Fieldset>
  )
}

const tlsOf = (trunk: Trunk | undefined): Readonly<Record<string, unknown>> => {
  const tls = trunk?.settings['tls']
  return typeof tls === 'object' && tls !== null ? { ...tls } : {}
}
