export { Chart, type Mark, Plot } from './chart.tsx';
export { hasValues, type Line, lineOf, nothing, timesOf, valueText } from './series.ts';
