export { Loaded } from './loaded.tsx';
export { Empty, notify, notifyProblem, ProblemView } from './problem.tsx';
