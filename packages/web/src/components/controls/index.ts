export { Acknowledge, UNTIL } from './acknowledge.tsx';
export { IconButton, type MenuAction, MoreMenu, RowMenu } from './actions.tsx';
