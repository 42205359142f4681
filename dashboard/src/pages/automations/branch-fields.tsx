import { Button, Fieldset, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { listOf, membersOf, textOf, textsOf, withoutMember, type Members } from './draft.ts'
import { ListField } from './list-field.tsx'
import { StepChoice } from './step-choice.tsx'
import type { StepFieldsProps } from './step-fields.tsx'

/** What a case may look at. */
const subjects = [
  'answer_status',
  'outcome',
  'contact.country',
  'contact.city',
  'contact.company',
  'contact.role',
  'contact.source',
  'contact.external_id',
  'contact.name',
  'contact.phone_number',
  'contact.email',
] as const

/** Cases in their order: the first that fits decides. */
export const BranchFields = (properties: StepFieldsProps) => {
  const { step, names, problems, isReadOnly, onChange } = properties
  const cases = listOf(step['cases']).map(membersOf)
  const setCases = (changed: readonly Members[]): void => onChange({ ...step, cases: changed })
  return (
    <Stack gap="xs">
      {cases.map((each, at) => (
        // Cases have no name: their place is all that tells them apart.
        <Fieldset key={`case ${at}`} legend={`Case ${at + 1}`}>
          <Stack gap="xs">
            <Conditions
              when={membersOf(each['when'])}
              caseAt={at}
              problems={problems}
              isReadOnly={isReadOnly}
              onChange={(when) => setCases(cases.with(at, { ...each, when }))}
            />
            <StepChoice
              label={`Case ${at + 1} leads to`}
              value={textOf(each, 'next')}
              names={names}
              error={problems.get(`cases[${at}].next`)}
              isReadOnly={isReadOnly}
              onChange={(next) => setCases(cases.with(at, { ...each, next }))}
            />
            <Group gap="xs">
              <Button
                size="compact-xs"
                variant="default"
                disabled={isReadOnly || at === 0}
                onClick={() => setCases(cases.toSpliced(at - 1, 2, each, cases[at - 1] ?? each))}
              >
                Move case {at + 1} up
              </Button>
              <Button
                size="compact-xs"
                variant="default"
                disabled={isReadOnly || cases.length === 1}
                onClick={() => setCases(cases.toSpliced(at, 1))}
              >
                Remove case {at + 1}
              </Button>
            </Group>
          </Stack>
        </Fieldset>
      ))}
      {problems.has('cases') && (
        <Text size="sm" c="var(--mantine-color-error)">
          {problems.get('cases')}
        </Text>
      )}
      <StepChoice
        label="Otherwise"
        value={textOf(step, 'otherwise')}
        names={names}
        error={problems.get('otherwise')}
        isReadOnly={isReadOnly}
        onChange={(otherwise) => onChange({ ...step, otherwise })}
      />
      <Group>
        <Button
          size="xs"
          variant="default"
          disabled={isReadOnly}
          onClick={() =>
            setCases([...cases, { when: { outcome: [] }, next: textOf(step, 'otherwise') }])
          }
        >
          Add case
        </Button>
      </Group>
    </Stack>
  )
}

interface ConditionsProps extends Pick<StepFieldsProps, 'problems' | 'isReadOnly' | 'onChange'> {
  readonly when: Members
  readonly caseAt: number
}

const Conditions = ({ when, caseAt, problems, isReadOnly, onChange }: ConditionsProps) => {
  const given = Object.keys(when)
  const free = subjects.filter((subject) => !given.includes(subject))
  const set = (subject: string, values: readonly string[]): void =>
    onChange({ ...when, [subject]: values })
  const replace = (subject: string, by: string): void =>
    onChange(
      Object.fromEntries(
        Object.entries(when).map(([name, values]) => [name === subject ? by : name, values]),
      ),
    )
  const place = `cases[${caseAt}].when`
  return (
    <Stack gap="xs">
      {given.map((subject, at) => (
        <Group key={subject} align="flex-start" gap="xs">
          <NativeSelect
            label={at === 0 ? 'When' : 'and when'}
            disabled={isReadOnly}
            value={subject}
            data={[subject, ...free]}
            onChange={({ currentTarget }) => replace(subject, currentTarget.value)}
          />
          <ListField
            label="is one of"
            description="One a line."
            values={textsOf(when[subject])}
            error={problemWithin(problems, `${place}.${subject}`)}
            isReadOnly={isReadOnly}
            onChange={(values) => set(subject, values)}
          />
          <Button
            mt="1.6rem"
            size="xs"
            variant="default"
            disabled={isReadOnly || given.length === 1}
            aria-label={`Remove condition ${at + 1} of case ${caseAt + 1}`}
            onClick={() => onChange(withoutMember(when, subject))}
          >
            Remove
          </Button>
        </Group>
      ))}
      {problems.has(place) && (
        <Text size="sm" c="var(--mantine-color-error)">
          {problems.get(place)}
        </Text>
      )}
      {free[0] !== undefined && (
        <Group>
          <Button
            size="compact-xs"
            variant="default"
            disabled={isReadOnly}
            onClick={() => set(free[0] ?? '', [])}
          >
            Add condition to case {caseAt + 1}
          </Button>
        </Group>
      )}
    </Stack>
  )
}

const problemWithin = (problems: ReadonlyMap<string, string>, path: string): string | undefined =>
  [...problems].find(([each]) => each.startsWith(path))?.[1]
