export { Chart, type Mark, Plot } from './chart.tsx';
export { type BandSpan, hasValues, type Line, lineOf, nothing, timesOf, valueText } from './series.ts';
