import { createTheme, type MantineColorsTuple } from '@mantine/core';

/** One accent for what can be acted on; severities have colours of their own and always an icon and a word beside. */
const teal: MantineColorsTuple = [
  '#effcf9',
  '#d5f5ee',
  '#aaeadd',
  '#75d9c8',
  '#43bfae',
  '#239f91',
  '#0f766e',
  '#0d635d',
  '#104f4b',
  '#11413e',
];
/** Greys with a little of the accent in them, so that surfaces and lines belong together. */
const dark: MantineColorsTuple = [
  '#e4eae8',
  '#c3cdca',
  '#9aaba7',
  '#6f807c',
  '#41504d',
  '#2a3533',
  '#1d2625',
  '#151c1b',
  '#0e1413',
  '#090d0c',
];
const gray: MantineColorsTuple = [
  '#f6f8f7',
  '#eef1f0',
  '#e1e6e4',
  '#d0d7d5',
  '#b3bdba',
  '#8b9895',
  '#55635f',
  '#3c4845',
  '#27312f',
  '#17201e',
];

const unlocked = { lockScroll: false };
const small = { size: 'xs' };
/** As large as the text beside them. */
const pills = { pill: { fontSize: 'var(--mantine-font-size-xs)' } };
/**
 * What opens at a click is there with the next frame, and where it stays: fading costs a dozen frames, each of the whole
 * page beneath, and a click at a field that still moves hits what is beside it.
 */
const atOnce = { transitionProps: { duration: 0 } };
const floating = { ...atOnce, shadow: 'md' };

export const theme = createTheme({
  primaryColor: 'teal',
  // One shade that carries white text, in both schemes.
  primaryShade: 6,
  colors: { teal, dark, gray },
  defaultRadius: 'sm',
  radius: { xs: '3px', sm: '5px', md: '8px', lg: '12px', xl: '16px' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: '"IBM Plex Sans Variable", ui-sans-serif, system-ui, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: '"IBM Plex Mono", ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.125rem', lineHeight: '1.4' },
      h2: { fontSize: '0.875rem', lineHeight: '1.4' },
      h3: { fontSize: '0.8125rem', lineHeight: '1.4' },
    },
  },
  components: {
    Button: { defaultProps: small },
    TextInput: { defaultProps: small },
    PasswordInput: { defaultProps: small },
    NumberInput: { defaultProps: small },
    TagsInput: { defaultProps: { ...small, styles: pills } },
    MultiSelect: { defaultProps: { ...small, styles: pills } },
    // One of the choices always holds.
    Select: { defaultProps: { ...small, allowDeselect: false, comboboxProps: { shadow: 'md' } } },
    Textarea: { defaultProps: { ...small, autosize: true, minRows: 2, maxRows: 10 } },
    Checkbox: { defaultProps: small },
    Switch: { defaultProps: small },
    SegmentedControl: { defaultProps: small },
    // The shell scrolls inside itself: there is nothing to lock, and locking writes a `<style>` element, which the
    // content security policy refuses.
    Modal: { defaultProps: { ...unlocked, centered: true, radius: 'md' } },
    Spotlight: { defaultProps: { ...unlocked, ...atOnce } },
    // The first item takes the focus: an element for it alone would stand in the menu and be no item.
    Menu: { defaultProps: { ...floating, position: 'bottom-end', withInitialFocusPlaceholder: false } },
    Popover: { defaultProps: floating },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: true } },
  },
});
