export { AsOf, AsOfNote, momentOf } from './as-of.tsx';
export { type Choice, ChoiceFilter, choicesOf, codeChoices } from './choice-filter.tsx';
export { Filters } from './filters.tsx';
export { SEARCH_FIELD, SearchBox } from './search-box.tsx';
export { type RangeSearch, rangeOf, TimeRange } from './time-range.tsx';
export { ViewSwitch } from './view-switch.tsx';
export { Views } from './views.tsx';
