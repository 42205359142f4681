import { createTheme } from '@mantine/core'

/** Shades chosen for contrast of at least 4.5 to 1 on both backgrounds (WCAG 2.2 AA). */
export const theme = createTheme({
  primaryColor: 'teal',
  primaryShade: 9,
  respectReducedMotion: true,
  defaultRadius: 'md',
  fontFamily: 'system-ui, "Liberation Sans", sans-serif',
  components: {
    // A dialog's heading is no second banner of the page.
    Modal: { defaultProps: { attributes: { header: { role: 'presentation' } } } },
    PasswordInput: {
      defaultProps: {
        // Without the word password: the field alone is found by it.
        visibilityToggleButtonProps: { 'aria-label': 'Show what is typed', tabIndex: 0 },
      },
    },
  },
  headings: { fontWeight: '600' },
})
