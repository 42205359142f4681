import { Button, Code, Fieldset, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { isMembers, itemsOf, textOf, withMember, type AgentFile } from './agent-file.ts'
import { problemAt, textField, type AgentFieldsProps } from './agent-fields.tsx'
import { CallerIdsField } from './caller-ids-field.tsx'

/** How the agent behaves: voice, length, transfer, outcomes, tools, engine. */
export const BehaviourFields = (properties: AgentFieldsProps) => (
  <Stack>
    <TextInput
      label="Voice"
      description="As the engine calls it; without one, the engine's own."
      {...textField(properties, 'voice')}
    />
    <LengthField {...properties} />
    <CallerIdsField {...properties} />
    <TransferField {...properties} />
    <OutcomeFields {...properties} />
    <ToolList {...properties} />
    <EngineFields {...properties} />
  </Stack>
)

/** A whole number is one in the file as well; anything else is kept for the check to refuse. */
const LengthField = (properties: AgentFieldsProps) => {
  const { file, onChange } = properties
  return (
    <TextInput
      label="Longest call, in seconds"
      description="10 to 3600; without it 900. The call is ended then."
      inputMode="numeric"
      {...textField(properties, 'max_duration_seconds')}
      onChange={({ currentTarget: { value } }) =>
        onChange(
          withMember(file, 'max_duration_seconds', /^\d{1,9}$/.test(value) ? Number(value) : value),
        )
      }
    />
  )
}

const isTransfer = (tool: unknown): tool is AgentFile =>
  isMembers(tool) && tool['builtin'] === 'transfer_call'

const TransferField = ({ file, problems, isReadOnly, onChange }: AgentFieldsProps) => {
  const tools = itemsOf(file, 'tools')
  const at = tools.findIndex(isTransfer)
  const transfer = tools[at]
  const change = (to: string): void => {
    const others = tools.filter((_, index) => index !== at)
    const item = { ...(isMembers(transfer) ? transfer : { builtin: 'transfer_call' }), to }
    const changed = to === '' ? others : at < 0 ? [...tools, item] : tools.with(at, item)
    onChange(withMember(file, 'tools', changed.length === 0 ? undefined : changed))
  }
  return (
    <TextInput
      label="Transfer calls to"
      description="A number such as +12025550123, or a SIP address. Empty: the agent cannot transfer."
      value={isMembers(transfer) ? textOf(transfer, 'to') : ''}
      readOnly={isReadOnly}
      error={at < 0 ? undefined : problemAt(problems, `tools[${at}].to`)}
      onChange={({ currentTarget }) => change(currentTarget.value)}
    />
  )
}

const OutcomeFields = ({ file, problems, isReadOnly, onChange }: AgentFieldsProps) => {
  const outcomes = itemsOf(file, 'outcomes')
  const change = (items: readonly unknown[]): void =>
    onChange(withMember(file, 'outcomes', items.length === 0 ? undefined : items))
  const field = (at: number, member: string) => {
    const outcome = outcomes[at]
    const shown = isMembers(outcome) ? outcome : {}
    return {
      value: textOf(shown, member),
      readOnly: isReadOnly,
      error: problemAt(problems, `outcomes[${at}].${member}`),
      onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
        change(outcomes.with(at, { ...shown, [member]: currentTarget.value })),
    }
  }
  return (
    <Fieldset legend="Outcomes of its own">
      <Stack gap="xs">
        <Text size="sm">Beside the common ones, such as achieved or callback_requested.</Text>
        {outcomes.map((_, at) => (
          // Rows have no identity but their place.
          <Group key={at} align="flex-end" gap="xs">
            <TextInput label={`Outcome ${at + 1}`} {...field(at, 'slug')} />
            <TextInput
              label={`Meaning of outcome ${at + 1}`}
              className="grows"
              {...field(at, 'description')}
            />
            <Button
              variant="default"
              disabled={isReadOnly}
              aria-label={`Remove outcome ${at + 1}`}
              onClick={() => change(outcomes.filter((__, index) => index !== at))}
            >
              Remove
            </Button>
          </Group>
        ))}
        <Group>
          <Button
            size="compact-sm"
            variant="default"
            disabled={isReadOnly}
            onClick={() => change([...outcomes, { slug: '', description: '' }])}
          >
            Add outcome
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  )
}

const ToolList = ({ file, problems }: AgentFieldsProps) => {
  const tools = itemsOf(file, 'tools')
  const requests = tools.flatMap((tool, at) =>
    isMembers(tool) && !isTransfer(tool) ? [{ tool, at }] : [],
  )
  return (
    <Fieldset legend="Tools">
      <Stack gap="xs">
        <Text size="sm">
          Requests that the agent can make in a call; the tab File changes them.
        </Text>
        {requests.length === 0 && <Text size="sm">It has none.</Text>}
        {requests.map(({ tool, at }) => {
          const found = problems.filter(({ path }) => path.startsWith(`tools[${at}]`))
          return (
            <div key={at}>
              <Text size="sm" fw={600}>
                {textOf(tool, 'name')}
              </Text>
              <Code style={{ overflowWrap: 'anywhere' }}>
                {textOf(tool, 'method')} {textOf(tool, 'url')}
              </Code>
              {found.map(({ path, message }) => (
                <Text key={path} size="sm" c="var(--mantine-color-error)">
                  {path}: {message}
                </Text>
              ))}
            </div>
          )
        })}
      </Stack>
    </Fieldset>
  )
}

const engineFields = [
  { name: 'model', label: 'Model' },
  { name: 'voice', label: 'Voice of the engine' },
  { name: 'url', label: 'URL of the engine' },
] as const

const EngineFields = ({ file, problems, isReadOnly, onChange }: AgentFieldsProps) => {
  const { engine } = file
  const shown = isMembers(engine) ? engine : undefined
  const known = new Set<string>(['kind', ...engineFields.map(({ name }) => name)])
  const further = Object.keys(shown ?? {}).filter((name) => !known.has(name))
  const change = (name: string, value: string): void =>
    onChange(withMember(file, 'engine', withMember(shown ?? {}, name, value)))
  return (
    <Fieldset legend="Engine">
      <Stack gap="xs">
        <NativeSelect
          label="Kind"
          value={shown ? textOf(shown, 'kind') : ''}
          disabled={isReadOnly}
          error={problemAt(problems, 'engine.kind') ?? problemAt(problems, 'engine')}
          data={[
            { value: '', label: "The installation's" },
            { value: 'realtime', label: 'realtime: one model hears and speaks' },
            { value: 'cascade', label: 'cascade: speech to text, model, text to speech' },
            { value: 'sandbox', label: 'sandbox: scripted' },
          ]}
          onChange={({ currentTarget: { value } }) =>
            value === '' ? onChange(withMember(file, 'engine', undefined)) : change('kind', value)
          }
        />
        {shown &&
          engineFields.map(({ name, label }) => (
            <TextInput
              key={name}
              label={label}
              value={textOf(shown, name)}
              readOnly={isReadOnly}
              error={problemAt(problems, `engine.${name}`)}
              onChange={({ currentTarget }) => change(name, currentTarget.value)}
            />
          ))}
        {further.length > 0 && (
          <Text size="sm">Further settings are in the tab File: {further.join(', ')}.</Text>
        )}
      </Stack>
    </Fieldset>
  )
}
