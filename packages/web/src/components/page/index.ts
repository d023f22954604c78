export { EntriesPanel, Entry } from './entries.tsx';
export { Body, LoadedPage, Page, Panel } from './page.tsx';
export { Scroller } from './scroller.tsx';
export { LoadedSidePanel, SidePanel, Split } from './side-panel.tsx';
export { type Tab, Tabs } from './tabs.tsx';
