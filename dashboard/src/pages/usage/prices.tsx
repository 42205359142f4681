import { Button, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { atLeast } from '../../../../src/contract/roles.ts'
import { useChange } from '../../client/queries.ts'
import { useMay } from '../../client/session.ts'
import type { AnswerOf } from '../../client/table.ts'
import { valuesOf } from '../../parts/fields.ts'
import { Failure } from '../../parts/states.tsx'

/** What the organization pays for its calls; administrators set it. */
export const Prices = ({ prices }: { prices: AnswerOf<'getUsage'>['prices'] }) => {
  const mayChange = useMay(atLeast('admin'))
  const change = useChange('setCallPrices')
  return (
    <Stack component="section" aria-labelledby="prices" gap="xs">
      <Title order={2} size="h4" id="prices">
        Prices
      </Title>
      <Text size="sm">
        {prices
          ? `Cost is what all these calls cost at these prices, also those of before.`
          : 'No prices are set, so no cost is shown.'}
      </Text>
      {change.error && <Failure error={change.error} />}
      {change.isSuccess && (
        <Text role="status" size="sm">
          Saved.
        </Text>
      )}
      <form
        key={JSON.stringify(prices)}
        onSubmit={(event) => {
          event.preventDefault()
          const given = valuesOf(event.currentTarget, 'currency', 'per_call', 'per_minute')
          change.mutate({
            body: {
              prices: {
                currency: given.currency.toUpperCase(),
                per_call: Number(given.per_call),
                per_minute: Number(given.per_minute),
              },
            },
          })
        }}
      >
        <Group align="flex-end" gap="xs">
          <TextInput
            size="xs"
            label="Currency"
            name="currency"
            placeholder="EUR"
            minLength={3}
            maxLength={3}
            required
            withAsterisk={false}
            readOnly={!mayChange}
            defaultValue={prices?.currency ?? ''}
          />
          <TextInput
            size="xs"
            label="For each call"
            name="per_call"
            type="number"
            min={0}
            step="any"
            required
            withAsterisk={false}
            readOnly={!mayChange}
            defaultValue={prices?.per_call ?? 0}
          />
          <TextInput
            size="xs"
            label="For each connected minute"
            name="per_minute"
            type="number"
            min={0}
            step="any"
            required
            withAsterisk={false}
            readOnly={!mayChange}
            defaultValue={prices?.per_minute ?? 0}
          />
          {mayChange && (
            <Button type="submit" size="xs" loading={change.isPending}>
              Save prices
            </Button>
          )}
          {mayChange && prices && (
            <Button
              size="xs"
              variant="default"
              onClick={() => change.mutate({ body: { prices: null } })}
            >
              Forget prices
            </Button>
          )}
        </Group>
      </form>
    </Stack>
  )
}
