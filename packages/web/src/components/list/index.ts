export { Collection, EditDialog, type FormOf, NewButton } from './collection.tsx';
export { ExportMenu } from './export-menu.tsx';
export { type FilePart, useFile } from './use-file.ts';
