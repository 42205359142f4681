import {
  Alert,
  Button,
  Group,
  NativeSelect,
  SimpleGrid,
  Stack,
  Tabs,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Failure } from '../parts/states.tsx'
import { problemOf } from '../parts/fields.ts'
import { exampleContact, fillPreview, textOf, withTexts, type AgentFile } from './agent-file.ts'

interface AgentFormProps {
  readonly file: AgentFile
  readonly publish: (file: AgentFile) => Promise<void>
  readonly disabledBecause: string | undefined
}

/** The texts of an agent in fields, and the whole file beside them; both show the same agent. */
export const AgentForm = ({ file: stored, publish, disabledBecause }: AgentFormProps) => {
  const [file, setFile] = useState(stored)
  const [source, setSource] = useState<string>()
  const isChanged = file !== stored || source !== undefined
  const publishing = useMutation({
    mutationFn: async () => publish(source === undefined ? file : parseFile(source)),
  })
  useBlocker({
    shouldBlockFn: () =>
      isChanged &&
      !publishing.isPending &&
      !publishing.isSuccess &&
      !window.confirm('Leave without publishing? What you changed here is lost.'),
    enableBeforeUnload: isChanged && !publishing.isSuccess,
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        publishing.mutate()
      }}
    >
      <Stack>
        {publishing.error && <PublishFailure error={publishing.error} />}
        <Tabs
          defaultValue="texts"
          onChange={(tab) => {
            if (tab !== 'texts' || source === undefined) return
            try {
              setFile(parseFile(source))
              setSource(undefined)
            } catch {
              // The file stays as it was typed; publishing says what is wrong with it.
            }
          }}
          keepMounted={false}
        >
          <Tabs.List>
            <Tabs.Tab value="texts">Texts</Tabs.Tab>
            <Tabs.Tab value="file">File</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="texts" pt="md">
            <Texts
              file={file}
              error={publishing.error}
              isReadOnly={disabledBecause !== undefined}
              onChange={(texts) => setFile(withTexts(file, texts))}
            />
          </Tabs.Panel>
          <Tabs.Panel value="file" pt="md">
            <Textarea
              label="Agent file"
              description="JSON, as outdial agent publish takes it: voice, tools, outcomes and engine are written here."
              autosize
              minRows={12}
              maxRows={40}
              ff="monospace"
              spellCheck={false}
              readOnly={disabledBecause !== undefined}
              value={source ?? JSON.stringify(file, null, 2)}
              onChange={({ currentTarget }) => setSource(currentTarget.value)}
            />
          </Tabs.Panel>
        </Tabs>
        <Group>
          <Button
            type="submit"
            loading={publishing.isPending}
            disabled={disabledBecause !== undefined || !isChanged}
          >
            Publish
          </Button>
          {disabledBecause && <Text size="sm">{disabledBecause}</Text>}
        </Group>
      </Stack>
    </form>
  )
}

class FileFault extends Error {}

const parseFile = (source: string): AgentFile => {
  try {
    const file: unknown = JSON.parse(source)
    if (typeof file === 'object' && file !== null && !Array.isArray(file)) return file as AgentFile
  } catch (error) {
    throw new FileFault(error instanceof Error ? error.message : 'The file is no JSON.', {
      cause: error,
    })
  }
  throw new FileFault('The file must be one JSON object.')
}

const PublishFailure = ({ error }: { error: unknown }) =>
  error instanceof FileFault ? (
    <Alert role="alert" color="red" variant="outline" title="The file is no agent">
      {error.message}
    </Alert>
  ) : (
    <Failure error={error} />
  )

interface TextsProps {
  readonly file: AgentFile
  readonly error: unknown
  readonly isReadOnly: boolean
  readonly onChange: (texts: Readonly<Record<string, string>>) => void
}

const Texts = ({ file, error, isReadOnly, onChange }: TextsProps) => {
  const field = (name: string) => ({
    value: textOf(file, name),
    readOnly: isReadOnly,
    error: problemOf(error, name),
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onChange({ [name]: currentTarget.value }),
  })
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Stack>
        <TextInput label="Name" maxLength={200} {...field('name')} />
        <TextInput label="Description" maxLength={1000} {...field('description')} />
        <TextInput label="Language" description="BCP 47: en-US, de-DE." {...field('language')} />
        <Textarea
          label="Greeting"
          description="Said first, word for word."
          maxLength={2000}
          autosize
          minRows={2}
          {...field('greeting')}
        />
        <Textarea
          label="Prompt"
          description="The agent's instructions."
          maxLength={50_000}
          autosize
          minRows={8}
          maxRows={30}
          {...field('prompt')}
        />
        <NativeSelect
          label="At a voicemail"
          value={textOf(file, 'voicemail')}
          disabled={isReadOnly}
          data={[
            { value: 'hang_up', label: 'Hang up' },
            { value: 'leave_message', label: 'Leave a message' },
          ]}
          onChange={({ currentTarget }) => onChange({ voicemail: currentTarget.value })}
        />
        {textOf(file, 'voicemail') === 'leave_message' && (
          <Textarea
            label="Voicemail message"
            maxLength={2000}
            autosize
            minRows={2}
            {...field('voicemail_message')}
          />
        )}
      </Stack>
      <Stack component="section" aria-label="Preview" gap="xs">
        <Text fw={600}>Preview for {exampleContact['name']}</Text>
        <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
          {fillPreview(textOf(file, 'greeting')) || 'The greeting is empty.'}
        </Text>
        <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {fillPreview(textOf(file, 'prompt')) || 'The prompt is empty.'}
        </Text>
      </Stack>
    </SimpleGrid>
  )
}
