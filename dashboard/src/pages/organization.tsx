import {
  Badge,
  Button,
  Checkbox,
  Fieldset,
  Group,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { buckets, defaultRateLimits } from '../../../src/contract/buckets.ts'
import { atLeast } from '../../../src/contract/roles.ts'
import { reading, useChange } from '../client/queries.ts'
import { useMay } from '../client/session.ts'
import type { AnswerOf } from '../client/table.ts'
import { CopyText } from '../parts/copy-text.tsx'
import { Page } from '../parts/page.tsx'
import { Failure, Loaded } from '../parts/states.tsx'
import { CallsBack } from './calls-back.tsx'

type Settings = AnswerOf<'getOrganization'>

export const OrganizationPage = () => {
  const result = useQuery(reading('getOrganization', {}))
  return (
    <Page
      title="Organization"
      purpose="What holds for the whole organization. A change counts within a second, on every node."
    >
      <Loaded result={result}>
        {(settings) => <SettingsForm key={settings.updated_at} settings={settings} />}
      </Loaded>
      <CallsBack />
    </Page>
  )
}

const modes = {
  sandbox: 'Its calls go to the built-in sandbox and ring no phone.',
  live: 'Its calls ring phones.',
} as const

const SettingsForm = ({ settings }: { settings: Settings }) => {
  const mayChange = useMay(atLeast('admin'))
  const change = useChange('changeOrganization')
  const [isOpen, setOpen] = useState(settings.public_api_enabled)
  const [concurrency, setConcurrency] = useState(String(settings.concurrency))
  const [days, setDays] = useState(settings.retention_days?.toString() ?? '')
  const [callsBack, setCallsBack] = useState(settings.calls_back ?? '')
  const [rates, setRates] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(buckets.map((bucket) => [bucket, String(settings.rates[bucket] ?? '')])),
  )
  const [isRecording, setRecording] = useState(settings.recording === 'always')
  const body = changesOf(settings, { isOpen, isRecording, concurrency, days, callsBack, rates })
  const shortens =
    body.retention_days !== undefined &&
    body.retention_days !== null &&
    body.retention_days < (settings.retention_days ?? Number.POSITIVE_INFINITY)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        change.mutate({ body })
      }}
    >
      <Stack>
        {change.error && <Failure error={change.error} />}
        <Group gap="xs">
          <Text fw={600}>{settings.name}</Text>
          <Badge variant="default">{settings.mode ?? 'undecided'}</Badge>
          <CopyText value={settings.id} what="id of the organization" />
        </Group>
        <Text size="sm">
          {settings.mode === null
            ? 'The next start decides whether it is a sandbox.'
            : modes[settings.mode]}{' '}
          This was fixed when it was made.
        </Text>
        <Checkbox
          label="Programs may use the API"
          description="Off: every key of this organization is refused with organization_not_enabled."
          checked={isOpen}
          disabled={!mayChange}
          onChange={({ currentTarget }) => setOpen(currentTarget.checked)}
        />
        <Checkbox
          label="Calls are recorded"
          description="Off: no call is recorded, whatever its agent says; its words are still written down. What was recorded before stays."
          checked={isRecording}
          disabled={!mayChange}
          onChange={({ currentTarget }) => setRecording(currentTarget.checked)}
        />
        <SimpleGrid cols={{ base: 1, sm: 2 }} maw="48rem">
          <TextInput
            label="Calls at one time"
            description="Further calls wait in the queue."
            type="number"
            min={1}
            required
            withAsterisk={false}
            value={concurrency}
            readOnly={!mayChange}
            onChange={({ currentTarget }) => setConcurrency(currentTarget.value)}
          />
          <TextInput
            label="Days that recordings and words are kept"
            description="Empty: for good."
            type="number"
            min={1}
            value={days}
            readOnly={!mayChange}
            onChange={({ currentTarget }) => setDays(currentTarget.value)}
          />
        </SimpleGrid>
        <TextInput
          label="What people get who call its numbers"
          description="decline, decline:480, decline:486, message:TEXT, or forward: with a number or a SIP address. Empty: what the installation says."
          maw="48rem"
          maxLength={1_010}
          value={callsBack}
          readOnly={!mayChange}
          onChange={({ currentTarget }) => setCallsBack(currentTarget.value)}
        />
        {shortens && (
          <Text role="status" size="sm" c="var(--mantine-color-error)">
            Recordings, transcripts and summaries older than {days} days are deleted within ten
            minutes of the change. This cannot be undone.
          </Text>
        )}
        <Fieldset legend="Requests a minute" maw="48rem">
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            {buckets.map((bucket) => (
              <TextInput
                key={bucket}
                label={bucket}
                description={`${defaultRateLimits[bucket]} by default`}
                type="number"
                min={1}
                required
                withAsterisk={false}
                value={rates[bucket] ?? ''}
                readOnly={!mayChange}
                onChange={({ currentTarget: { value } }) => setRates({ ...rates, [bucket]: value })}
              />
            ))}
          </SimpleGrid>
        </Fieldset>
        {mayChange && (
          <Group>
            <Button
              type="submit"
              loading={change.isPending}
              disabled={Object.keys(body).length === 0}
            >
              Save
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  )
}

interface Given {
  readonly isOpen: boolean
  readonly isRecording: boolean
  readonly concurrency: string
  readonly days: string
  readonly callsBack: string
  readonly rates: Readonly<Record<string, string>>
}

/** Only what differs: what somebody else changed meanwhile stays. */
const changesOf = (settings: Settings, given: Given) => {
  const { isOpen, isRecording, concurrency, days, rates } = given
  const callsBack = given.callsBack.trim() === '' ? null : given.callsBack.trim()
  const recording: Settings['recording'] = isRecording ? 'always' : 'never'
  const kept = days.trim() === '' ? null : Number(days)
  const changed = buckets.filter((bucket) => Number(rates[bucket]) !== settings.rates[bucket])
  return {
    ...(isOpen !== settings.public_api_enabled && { public_api_enabled: isOpen }),
    ...(recording !== settings.recording && { recording }),
    ...(Number(concurrency) !== settings.concurrency && { concurrency: Number(concurrency) }),
    ...(kept !== settings.retention_days && { retention_days: kept }),
    ...(callsBack !== settings.calls_back && { calls_back: callsBack }),
    ...(changed.length > 0 && {
      rates: Object.fromEntries(changed.map((bucket) => [bucket, Number(rates[bucket])])),
    }),
  }
}
