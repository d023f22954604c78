export { Acknowledge, UNTIL } from './acknowledge.tsx';
export { ActionButton } from './action-button.tsx';
export { IconButton, type MenuAction, MoreMenu, RowMenu } from './actions.tsx';
