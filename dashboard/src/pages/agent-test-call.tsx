import { Button, Group, Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { sandboxCallees } from './sandbox-callees.ts'
import { atLeast } from '../../../src/contract/roles.ts'
import { useChange } from '../client/queries.ts'
import { useMay, useSession } from '../client/session.ts'
import type { AnswerOf } from '../client/table.ts'
import { problemOf, valuesOf } from '../parts/fields.ts'
import { Failure } from '../parts/states.tsx'

/** A button that lets the published version call: a person of the sandbox, or one's own phone. */
export const TestCall = ({ agent }: { agent: AnswerOf<'getAgent'> }) => {
  const [isOpen, { open, close }] = useDisclosure()
  const disabledBecause = useReasonAgainst(agent)
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        disabled={disabledBecause !== undefined}
        title={disabledBecause}
        onClick={open}
      >
        Test call
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={`Test call of ${agent.name}`}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <CallForm agent={agent} onClose={close} />
      </Modal>
    </>
  )
}

const useReasonAgainst = (agent: AnswerOf<'getAgent'>): string | undefined => {
  const mayCall = useMay(atLeast('operator'))
  if (!mayCall) return 'For operators and administrators.'
  if (agent.archived_at !== undefined) return 'The agent is archived.'
  return agent.version === 0 ? 'It was not published yet.' : undefined
}

const CallForm = ({ agent, onClose }: { agent: AnswerOf<'getAgent'>; onClose: () => void }) => {
  const navigate = useNavigate()
  const place = useChange('placeCall')
  const { organizations, organization_id: organizationId } = useSession()
  const mode = organizations.find((each) => each.organization_id === organizationId)?.mode ?? 'live'
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const { number } = valuesOf(event.currentTarget, 'number')
        place.mutate(
          { body: { agent_id: agent.id, phone_number: number.replaceAll(/[\s().-]/g, '') } },
          {
            onSuccess: (call) =>
              void navigate({ to: '/calls/$callId', params: { callId: call.id } }),
          },
        )
      }}
    >
      <Stack>
        {place.error && <Failure error={place.error} />}
        {mode === 'sandbox' ? (
          <NativeSelect
            label="Who picks up"
            name="number"
            data={sandboxCallees.map(({ number, shows }) => ({
              value: number,
              label: `${number}: ${shows}`,
            }))}
          />
        ) : (
          <TextInput
            label="Your phone number"
            description="With its country code: +12025550123. This phone rings, and the call costs what a call costs."
            name="number"
            type="tel"
            autoComplete="tel"
            required
            withAsterisk={false}
            error={problemOf(place.error, 'phone_number')}
          />
        )}
        <Text size="sm">
          Version {agent.version} calls
          {agent.draft ? '; the draft is heard once it is published.' : '.'} The do-not-call list
          and the calling hours apply.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
          <Button type="submit" loading={place.isPending}>
            Call
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
