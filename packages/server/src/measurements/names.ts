/** Metrics as Prometheus knows them: names and base units (seconds, bytes, ratios). */
import type { MetricName } from '@rollcall/shared/api/measurements';

/** `by`: what the value is multiplied by. */
export const PROMETHEUS: Readonly<Record<MetricName, { name: string; help: string; by: number }>> = {
  rtt: { name: 'rollcall_device_rtt_seconds', help: 'Round trip of pings, mean.', by: 1e-3 },
  rttMin: { name: 'rollcall_device_rtt_min_seconds', help: 'Round trip of pings, shortest.', by: 1e-3 },
  rttMax: { name: 'rollcall_device_rtt_max_seconds', help: 'Round trip of pings, longest.', by: 1e-3 },
  loss: { name: 'rollcall_device_ping_loss_ratio', help: 'Pings without an answer.', by: 1e-2 },
  in: { name: 'rollcall_interface_receive_bytes_per_second', help: 'Traffic received.', by: 1 / 8 },
  out: { name: 'rollcall_interface_transmit_bytes_per_second', help: 'Traffic sent.', by: 1 / 8 },
  inUtilisation: {
    name: 'rollcall_interface_receive_utilisation_ratio',
    help: 'Traffic received, of the speed of the interface.',
    by: 1e-2,
  },
  outUtilisation: {
    name: 'rollcall_interface_transmit_utilisation_ratio',
    help: 'Traffic sent, of the speed of the interface.',
    by: 1e-2,
  },
  inPackets: { name: 'rollcall_interface_receive_packets_per_second', help: 'Packets received.', by: 1 },
  outPackets: { name: 'rollcall_interface_transmit_packets_per_second', help: 'Packets sent.', by: 1 },
  inErrors: {
    name: 'rollcall_interface_receive_errors_per_second',
    help: 'Packets received with errors.',
    by: 1,
  },
  outErrors: {
    name: 'rollcall_interface_transmit_errors_per_second',
    help: 'Packets not sent because of errors.',
    by: 1,
  },
  inDiscards: {
    name: 'rollcall_interface_receive_discards_per_second',
    help: 'Packets received and discarded.',
    by: 1,
  },
  outDiscards: {
    name: 'rollcall_interface_transmit_discards_per_second',
    help: 'Packets discarded instead of sent.',
    by: 1,
  },
  sensor: { name: 'rollcall_sensor_value', help: 'Value of a sensor, in the unit of its kind.', by: 1 },
};

/** Beside every reading: how long its interval was. An interval that is not there was not measured. */
export const INTERVAL = 'rollcall_sample_interval_seconds';
/** Of a reading, or an interface, of which nothing is known: how long, with its `reason`. */
export const GAP = 'rollcall_sample_gap_seconds';
