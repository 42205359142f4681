import { Alert, Button, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { reading, useChange } from '../client/queries.ts'
import { send } from '../client/send.ts'
import { useMay } from '../client/session.ts'
import type { AnswerOf } from '../client/table.ts'
import { Page } from '../parts/page.tsx'
import { Failure, Loaded } from '../parts/states.tsx'
import { atLeast } from '../../../src/contract/roles.ts'
import { DoNotCallList } from './do-not-call.tsx'
import { Holidays, type Holiday } from './holidays.tsx'
import { HoursGrid } from './hours-grid.tsx'
import { isSameWeek, weekOf, windowsOf, type Week, type Window } from './policy-hours.ts'

type File = AnswerOf<'getPolicy'>

export const Policy = () => {
  const result = useQuery(reading('getPolicy', {}))
  const mayCall = useMay(atLeast('operator'))
  return (
    <Page
      title="Calling policy"
      purpose="When, where and how often this organization may call. Every call waits until the policy allows it; hours are the callee's own."
    >
      <Loaded result={result}>
        {(file) => <PolicyForm key={JSON.stringify(file)} file={file} />}
      </Loaded>
      {mayCall && <DoNotCallList />}
    </Page>
  )
}

interface Draft {
  readonly week: Week
  readonly timeZone: string
  readonly countries: string
  readonly attempts: string
  readonly holidays: readonly Holiday[]
}

const draftOf = (file: File): Draft => {
  const { allowed_countries: countries, attempts_per_number_per_day: attempts } = file
  return {
    week: weekOf(windowsIn(file)),
    timeZone: typeof file['time_zone'] === 'string' ? file['time_zone'] : '',
    countries: Array.isArray(countries) ? countries.join(', ') : 'all',
    attempts: typeof attempts === 'number' ? String(attempts) : '',
    holidays: (file['holidays'] ?? []) as readonly Holiday[],
  }
}

const windowsIn = (file: File): readonly Window[] => (file['windows'] ?? []) as readonly Window[]

/** What the page shows replaces what it showed; windows that were not painted, and members it does not show, stay. */
const fileOf = (file: File, draft: Draft): File => {
  const { week, timeZone, countries, attempts, holidays } = draft
  const { attempts_per_number_per_day: _attempts, holidays: _holidays, ...rest } = file
  const windows = windowsIn(file)
  return {
    ...rest,
    time_zone: timeZone.trim(),
    windows: isSameWeek(week, weekOf(windows)) ? windows : windowsOf(week),
    allowed_countries:
      countries.trim().toLowerCase() === 'all'
        ? 'all'
        : countries
            .toUpperCase()
            .split(/[\s,;]+/)
            .filter((code) => code !== ''),
    ...(holidays.length > 0 && { holidays }),
    ...(attempts.trim() !== '' && { attempts_per_number_per_day: Number(attempts) }),
  }
}

const previewDelayMs = 400

const PolicyForm = ({ file }: { file: File }) => {
  const mayChange = useMay(atLeast('admin'))
  const [draft, setDraft] = useState(() => draftOf(file))
  const save = useChange('changePolicy')
  const wanted = fileOf(file, draft)
  const isChanged = JSON.stringify(draft) !== JSON.stringify(draftOf(file))
  const set = (change: Partial<Draft>): void => setDraft({ ...draft, ...change })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate({ body: wanted })
      }}
    >
      <Stack>
        {save.error && <Failure error={save.error} />}
        <Stack gap="xs" component="section" aria-labelledby="hours">
          <Title order={2} size="h4" id="hours">
            Hours
          </Title>
          <Text size="sm" id="hours-help">
            {mayChange
              ? 'Paint with the mouse, or move with the arrows, set an hour with Space, and paint with Shift and the arrows. '
              : ''}
            ● is open, ◐ is open in part: a window that begins or ends within the hour is kept as it
            is until its cell is painted.
          </Text>
          <HoursGrid week={draft.week} onChange={(week) => set({ week })} isReadOnly={!mayChange} />
        </Stack>
        <Holidays
          holidays={draft.holidays}
          onChange={(holidays) => set({ holidays })}
          isReadOnly={!mayChange}
        />
        <TextInput
          label="Time zone of numbers without a place"
          description="IANA name. Toll-free and mobile numbers of some countries have no place."
          value={draft.timeZone}
          readOnly={!mayChange}
          maw="28rem"
          onChange={({ currentTarget }) => set({ timeZone: currentTarget.value })}
        />
        <TextInput
          label="Countries that may be called"
          description="Two-letter codes such as US, CA, or all."
          value={draft.countries}
          readOnly={!mayChange}
          maw="28rem"
          onChange={({ currentTarget }) => set({ countries: currentTarget.value })}
        />
        <TextInput
          label="Attempts per number and day"
          description="Empty: no limit. Further calls wait for the callee's next day."
          type="number"
          min={1}
          max={1000}
          value={draft.attempts}
          readOnly={!mayChange}
          maw="28rem"
          onChange={({ currentTarget }) => set({ attempts: currentTarget.value })}
        />
        {mayChange && isChanged && <Consequence wanted={wanted} />}
        {mayChange && (
          <Group>
            <Button type="submit" loading={save.isPending} disabled={!isChanged}>
              Save
            </Button>
            <Button variant="default" disabled={!isChanged} onClick={() => setDraft(draftOf(file))}>
              Undo changes
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  )
}

/** What the change does to the calls that are queued, before it is saved. */
const Consequence = ({ wanted }: { wanted: File }) => {
  const [body] = useDebouncedValue(wanted, previewDelayMs)
  const preview = useQuery({
    queryKey: ['previewPolicy', body],
    queryFn: ({ signal }) => send('previewPolicy', { body }, { signal }),
  })
  if (preview.error) return <Failure error={preview.error} />
  const told = preview.data
  return (
    <Alert role="status" variant="outline" title="What this changes now">
      <Text size="sm">
        {told === undefined ? 'Counting the calls that wait.' : sentenceOf(told)}
      </Text>
    </Alert>
  )
}

const sentenceOf = (told: AnswerOf<'previewPolicy'>): string =>
  [
    `Of ${told.queued} queued calls, ${told.open_before} are within their hours and ${told.open_after} would be: ${told.would_wait} would wait instead of ringing, ${told.would_ring} would ring instead of waiting, and ${told.would_ring_later} in all would ring later than by the policy as it is.`,
    told.without_opening > 0 ? `${told.without_opening} would find no hour.` : '',
    told.scheduled > 0
      ? `Of ${told.scheduled} recipients of scheduled batches, ${told.scheduled_later} would ring later.`
      : '',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')
