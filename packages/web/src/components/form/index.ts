export {
  AnnotationDialog,
  AnnotationFields,
  FieldFiltersField,
  TagsField,
  useCustomFields,
} from './annotation-fields.tsx';
export { annotationBody, annotationValues } from './annotation-values.ts';
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
export { ManyDialog } from './many-dialog.tsx';
export { PickDialog } from './pick-dialog.tsx';
export { MONO, RecurrenceField, ZONE_HERE, ZoneField } from './recurrence.tsx';
export { SecretDialog } from './secret-dialog.tsx';
export { SiteFields, sitesOf } from './site-fields.tsx';
export { useSubmit } from './use-submit.ts';
