export { Choices } from './choices.tsx';
export {
  ChecksField,
  Confirm,
  Dialog,
  Form,
  FormDialog,
  type FormDialogProps,
  Group,
  Pair,
} from './form.tsx';
export { PickDialog } from './pick-dialog.tsx';
export { CronField, ZONE_HERE, ZoneField } from './recurrence.tsx';
export { SecretDialog } from './secret-dialog.tsx';
export { SiteFields, sitesOf } from './site-fields.tsx';
