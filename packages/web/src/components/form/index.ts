export { Choices } from './choices.tsx';
export {
  ChecksField,
  Confirm,
  Dialog,
  FieldGroup,
  Form,
  FormDialog,
  type FormDialogProps,
  Pair,
} from './form.tsx';
export { PickDialog } from './pick-dialog.tsx';
export { MONO, RecurrenceField, ZONE_HERE, ZoneField } from './recurrence.tsx';
export { SecretDialog } from './secret-dialog.tsx';
export { SiteFields, sitesOf } from './site-fields.tsx';
