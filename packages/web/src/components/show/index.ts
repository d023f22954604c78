export { Bar, Progress } from './bar.tsx';
export { Changed, ChangedLine, ChangeText, eventText, newDeviceText, Value } from './changes.tsx';
export { CopyButton, CopyField, copyText } from './copy.tsx';
export { CLASS_ICONS, DeviceChoice, DeviceClassLabel, DeviceLink } from './device.tsx';
export { fieldName, memberText, valueAsText } from './differences.ts';
export { Fact, Facts, TimeFact } from './facts.tsx';
export {
  type Icon,
  PRIORITIES,
  Priority,
  SEVERITIES,
  Severity,
  StatusLabel,
  severityName,
  Tag,
  Tags,
} from './labels.tsx';
export { CaseLink, ChangeLink, CollectorLink, EventLink, ScanLink } from './links.tsx';
export { Prose } from './markdown.tsx';
export {
  CASE_STATUSES,
  CaseStatus,
  CollectorStatus,
  DeliveryStatus,
  DeviceStatus,
  EventStatus,
  HealthStatus,
  JobStatus,
  LinkStatus,
  ScanStatus,
} from './status.tsx';
export { absolute, ago, duration, fromWallClock, Time, toWallClock, useNow } from './time.tsx';
