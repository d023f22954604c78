export { Chart, type Mark } from './chart.tsx';
export { hasValues, type Line, lineOf, timesOf, valueText } from './series.ts';
