import { Text, TextInput, VisuallyHidden } from '@mantine/core'
import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'

export interface SearchOption {
  readonly id: string
  readonly label: string
  readonly detail?: string | undefined
  /** Options of one group stand together under its name. */
  readonly group?: string | undefined
}

interface SearchBoxProps<Option extends SearchOption> {
  readonly label: string
  readonly description?: string | undefined
  readonly placeholder?: string | undefined
  readonly error?: ReactNode
  readonly text: string
  readonly options: readonly Option[]
  readonly isLoading: boolean
  /** Said where nothing fits. */
  readonly none: string
  /** Said below the options. */
  readonly note?: string | undefined
  /** Always open: of a dialog that is nothing else. */
  readonly isOpenAlways?: boolean
  readonly disabled?: boolean
  readonly onText: (text: string) => void
  readonly onChoose: (option: Option) => void
}

/**
 * A field that offers what fits its text: a combobox with a list, by the pattern of the ARIA Authoring Practices. The focus
 * stays in the field; arrow keys mark an option, Enter chooses it, Escape closes the list.
 */
export const SearchBox = <Option extends SearchOption>(properties: SearchBoxProps<Option>) => {
  const { label, description, placeholder, error, text, options, isLoading, none, note } =
    properties
  const { isOpenAlways = false, disabled = false, onText, onChoose } = properties
  const id = useId()
  const list = useRef<HTMLUListElement>(null)
  const [isOpen, setIsOpen] = useState(isOpenAlways)
  const [markedId, setMarkedId] = useState<string>()
  const chosen = options.findIndex((option) => option.id === markedId)
  // Of a dialog that is nothing else, the first one is what Enter is for.
  const marked = chosen < 0 && isOpenAlways && text !== '' && options.length > 0 ? 0 : chosen
  // Enter came before the answer: the first one that then fits is chosen.
  const [isWanted, setIsWanted] = useState(false)
  const shown = isOpenAlways || isOpen
  useEffect(() => {
    if (marked >= 0)
      list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [marked])
  const choose = (option: Option): void => {
    setIsOpen(false)
    setMarkedId(undefined)
    setIsWanted(false)
    onChoose(option)
  }
  useEffect(() => {
    // In a form a guess would choose a person nobody named.
    const first = isOpenAlways || options.length === 1 ? options[0] : undefined
    if (!isWanted || isLoading) return
    if (first) choose(first)
    else setIsWanted(false)
  })
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      setIsOpen(true)
      const by = event.key === 'ArrowDown' ? 1 : -1
      const from = marked < 0 && by < 0 ? options.length : marked
      setMarkedId(options[(from + by + options.length) % options.length]?.id)
    } else if (event.key === 'Enter' && shown) {
      // Enter in the field is no send of the form around it.
      event.preventDefault()
      const option = options[marked] ?? (options.length === 1 ? options[0] : undefined)
      if (chosen < 0 && isLoading) setIsWanted(text !== '')
      else if (option) choose(option)
    } else if (event.key === 'Escape' && isOpen && !isOpenAlways) {
      // The dialog around it stays.
      event.stopPropagation()
      setIsOpen(false)
    }
  }
  const said = saidOf(options.length, isLoading, none)
  return (
    <div className="search-box">
      <TextInput
        label={label}
        description={description}
        placeholder={placeholder}
        error={error}
        disabled={disabled}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={shown && options.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={shown && marked >= 0 ? `${id}-${marked}` : undefined}
        autoComplete="off"
        spellCheck={false}
        maxLength={100}
        data-autofocus={isOpenAlways || undefined}
        value={text}
        onChange={({ currentTarget }) => {
          setIsOpen(true)
          setMarkedId(undefined)
          setIsWanted(false)
          onText(currentTarget.value)
        }}
        onFocus={() => setIsOpen(true)}
        onBlur={() => setIsOpen(false)}
        onKeyDown={onKeyDown}
      />
      <VisuallyHidden role="status">{shown ? said : ''}</VisuallyHidden>
      <ul
        id={`${id}-list`}
        ref={list}
        role="listbox"
        aria-label={label}
        className="search-options"
        hidden={!shown || options.length === 0}
        // A click in the list leaves the focus in the field.
        onMouseDown={(event) => event.preventDefault()}
      >
        {options.map((option, at) => (
          <li
            key={option.id}
            id={`${id}-${at}`}
            role="option"
            aria-selected={at === marked}
            className="search-option"
            onClick={() => choose(option)}
          >
            {option.group !== undefined && option.group !== options[at - 1]?.group && (
              <span className="search-group" aria-hidden>
                {option.group}
              </span>
            )}
            <span className="search-label">{option.label}</span>
            {option.detail !== undefined && <span className="search-detail">{option.detail}</span>}
          </li>
        ))}
      </ul>
      {shown && (options.length === 0 || note !== undefined) && (
        <Text size="xs" aria-hidden={options.length === 0}>
          {options.length === 0 ? said : note}
        </Text>
      )}
    </div>
  )
}

const saidOf = (count: number, isLoading: boolean, none: string): string => {
  if (count > 0) return `${count} ${count === 1 ? 'choice' : 'choices'}`
  return isLoading ? 'Searching' : none
}
