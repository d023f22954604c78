/**
 * Names of notifications and of their variables in standard MIBs: facts of the RFCs and IEEE standards named beside them.
 * A maker's own traps are told by their OIDs.
 */

/** Below an OID, by last number. `at` is where the notifications stand, with the 0 that SMIv2 puts before them if it does. */
interface Notifications {
  at: string;
  names: Readonly<Record<number, string>>;
}

/** The names from number 1 on. */
const from1 = (at: string, names: string): Notifications => ({
  at,
  names: Object.fromEntries(names.split(' ').map((name, i) => [i + 1, name])),
});

const MIB2 = '1.3.6.1.2.1';

const NOTIFICATIONS: readonly Notifications[] = [
  // SNMPv2-MIB, IF-MIB (RFC 3418, 2863)
  from1('1.3.6.1.6.3.1.1.5', 'coldStart warmStart linkDown linkUp authenticationFailure egpNeighborLoss'),
  // OSPF-TRAP-MIB (RFC 4750)
  from1(
    `${MIB2}.14.16.2`,
    'ospfVirtIfStateChange ospfNbrStateChange ospfVirtNbrStateChange ospfIfConfigError ospfVirtIfConfigError ' +
      'ospfIfAuthFailure ospfVirtIfAuthFailure ospfIfRxBadPacket ospfVirtIfRxBadPacket ospfTxRetransmit ' +
      'ospfVirtIfTxRetransmit ospfOriginateLsa ospfMaxAgeLsa ospfLsdbOverflow ospfLsdbApproachingOverflow ' +
      'ospfIfStateChange ospfNssaTranslatorStatusChange ospfRestartStatusChange ' +
      'ospfNbrRestartHelperStatusChange ospfVirtNbrRestartHelperStatusChange',
  ),
  // OSPFV3-MIB (RFC 5643)
  from1(`${MIB2}.191.0`, 'ospfv3VirtIfStateChange ospfv3NbrStateChange ospfv3VirtNbrStateChange'),
  // BGP4-MIB (RFC 4273), and as RFC 1657 had them
  from1(`${MIB2}.15.0`, 'bgpEstablishedNotification bgpBackwardTransNotification'),
  from1(`${MIB2}.15.7`, 'bgpEstablished bgpBackwardTransition'),
  // BFD-STD-MIB (RFC 7331)
  from1(`${MIB2}.222.0`, 'bfdSessUp bfdSessDown'),
  // ISIS-MIB (RFC 4444)
  { at: `${MIB2}.138.0`, names: { 17: 'isisAdjacencyChange' } },
  // VRRP-MIB (RFC 2787), VRRPV3-MIB (RFC 6527)
  from1(`${MIB2}.68.0`, 'vrrpTrapNewMaster vrrpTrapAuthFailure'),
  from1(`${MIB2}.207.0`, 'vrrpv3NewMaster vrrpv3ProtoError'),
  // MPLS-LDP-STD-MIB (RFC 3815)
  { at: `${MIB2}.10.166.4.0`, names: { 3: 'mplsLdpSessionUp', 4: 'mplsLdpSessionDown' } },
  // BRIDGE-MIB (RFC 4188)
  from1(`${MIB2}.17.0`, 'newRoot topologyChange'),
  // LLDP-MIB (IEEE 802.1AB), LLDP-EXT-MED-MIB (ANSI/TIA-1057)
  from1('1.0.8802.1.1.2.0.0', 'lldpRemTablesChange'),
  from1('1.0.8802.1.1.2.1.5.4795.0', 'lldpXMedTopologyChangeDetected'),
  // POWER-ETHERNET-MIB (RFC 3621)
  from1(
    `${MIB2}.105.0`,
    'pethPsePortOnOffNotification pethMainPowerUsageOnNotification pethMainPowerUsageOffNotification',
  ),
  // MAU-MIB (RFC 4836)
  from1(`${MIB2}.26.0`, 'rpMauJabberTrap ifMauJabberTrap'),
  // ENTITY-MIB, ENTITY-STATE-MIB (RFC 6933, 4268)
  from1(`${MIB2}.47.2.0`, 'entConfigChange'),
  from1(`${MIB2}.131.0`, 'entStateOperEnabled entStateOperDisabled'),
  // UPS-MIB (RFC 1628)
  from1(
    `${MIB2}.33.2`,
    'upsTrapOnBattery upsTrapTestCompleted upsTrapAlarmEntryAdded upsTrapAlarmEntryRemoved',
  ),
  // Printer-MIB (RFC 3805)
  from1(`${MIB2}.43.18.2.0`, 'printerV2Alert'),
  // RMON-MIB, HC-ALARM-MIB (RFC 2819, 3434)
  from1(`${MIB2}.16.0`, 'risingAlarm fallingAlarm'),
  from1(`${MIB2}.16.29.2.0`, 'hcRisingAlarm hcFallingAlarm'),
  // DISMAN-EVENT-MIB, DISMAN-PING-MIB, DISMAN-TRACEROUTE-MIB (RFC 2981, 4560)
  from1(
    `${MIB2}.88.2.0`,
    'mteTriggerFired mteTriggerRising mteTriggerFalling mteTriggerFailure mteEventSetFailure',
  ),
  from1(`${MIB2}.80.0`, 'pingProbeFailed pingTestFailed pingTestCompleted'),
  from1(`${MIB2}.81.0`, 'traceRoutePathChange traceRouteTestFailed traceRouteTestCompleted'),
  // NET-SNMP-AGENT-MIB
  from1('1.3.6.1.4.1.8072.4.0', 'nsNotifyStart nsNotifyShutdown nsNotifyRestart'),
];

/** OID → name. */
export const TRAP_NAMES: ReadonlyMap<string, string> = new Map(
  NOTIFICATIONS.flatMap(({ at, names }) =>
    Object.entries(names).map(([number, name]) => [`${at}.${number}`, name] as const),
  ),
);

/** A variable: its name, and what its numbers mean. */
export interface Variable {
  name: string;
  values?: readonly string[];
  /** Two traps that differ in it are about different things: a neighbour, a sensor. */
  tells?: true;
}

/** The words of an enumeration whose first number is 1. */
const words = (text: string): readonly string[] => text.split(' ');
const UP_DOWN = words('up down testing unknown dormant notPresent lowerLayerDown');

/** Column or scalar, without its index → what it is. */
export const VARIABLES: ReadonlyMap<string, Variable> = new Map<string, Variable>([
  [`${MIB2}.1.3`, { name: 'sysUpTime' }],
  [`${MIB2}.1.5`, { name: 'sysName' }],
  [`${MIB2}.2.2.1.1`, { name: 'ifIndex', tells: true }],
  [`${MIB2}.2.2.1.2`, { name: 'ifDescr', tells: true }],
  [`${MIB2}.2.2.1.7`, { name: 'ifAdminStatus', values: words('up down testing') }],
  [`${MIB2}.2.2.1.8`, { name: 'ifOperStatus', values: UP_DOWN }],
  [`${MIB2}.31.1.1.1.1`, { name: 'ifName', tells: true }],
  [`${MIB2}.31.1.1.1.18`, { name: 'ifAlias' }],
  [`${MIB2}.14.1.1`, { name: 'ospfRouterId' }],
  [`${MIB2}.14.7.1.1`, { name: 'ospfIfIpAddress', tells: true }],
  [`${MIB2}.14.7.1.2`, { name: 'ospfAddressLessIf' }],
  [
    `${MIB2}.14.7.1.12`,
    {
      name: 'ospfIfState',
      values: words(
        'down loopback waiting pointToPoint designatedRouter backupDesignatedRouter otherDesignatedRouter',
      ),
    },
  ],
  [`${MIB2}.14.10.1.1`, { name: 'ospfNbrIpAddr', tells: true }],
  [`${MIB2}.14.10.1.2`, { name: 'ospfNbrAddressLessIndex' }],
  [`${MIB2}.14.10.1.3`, { name: 'ospfNbrRtrId' }],
  [
    `${MIB2}.14.10.1.6`,
    { name: 'ospfNbrState', values: words('down attempt init twoWay exchangeStart exchange loading full') },
  ],
  [
    `${MIB2}.15.3.1.2`,
    { name: 'bgpPeerState', values: words('idle connect active opensent openconfirm established') },
  ],
  [`${MIB2}.15.3.1.7`, { name: 'bgpPeerRemoteAddr', tells: true }],
  [`${MIB2}.15.3.1.14`, { name: 'bgpPeerLastError' }],
  [
    `${MIB2}.105.1.1.1.6`,
    {
      name: 'pethPsePortDetectionStatus',
      values: words('disabled searching deliveringPower fault test otherFault'),
    },
  ],
  [`${MIB2}.105.1.3.1.1.4`, { name: 'pethMainPseConsumptionPower' }],
  [`${MIB2}.33.1.2.2`, { name: 'upsSecondsOnBattery' }],
  [`${MIB2}.33.1.2.3`, { name: 'upsEstimatedMinutesRemaining' }],
  [`${MIB2}.33.1.6.2.1.1`, { name: 'upsAlarmId' }],
  [`${MIB2}.33.1.6.2.1.2`, { name: 'upsAlarmDescr', tells: true }],
  [`${MIB2}.33.1.7.1`, { name: 'upsTestId' }],
  [
    `${MIB2}.33.1.7.3`,
    {
      name: 'upsTestResultsSummary',
      values: words('donePass doneWarning doneError aborted inProgress noTestsInitiated'),
    },
  ],
  [`${MIB2}.33.1.7.4`, { name: 'upsTestResultsDetail' }],
  [`${MIB2}.33.1.9.7`, { name: 'upsConfigLowBattTime' }],
  [`${MIB2}.16.3.1.1.1`, { name: 'alarmIndex', tells: true }],
  [`${MIB2}.16.3.1.1.3`, { name: 'alarmVariable' }],
  [`${MIB2}.16.3.1.1.4`, { name: 'alarmSampleType', values: words('absoluteValue deltaValue') }],
  [`${MIB2}.16.3.1.1.5`, { name: 'alarmValue' }],
  [`${MIB2}.16.3.1.1.7`, { name: 'alarmRisingThreshold' }],
  [`${MIB2}.16.3.1.1.8`, { name: 'alarmFallingThreshold' }],
  [`${MIB2}.88.2.1.1`, { name: 'mteHotTrigger', tells: true }],
  [`${MIB2}.88.2.1.2`, { name: 'mteHotTargetName' }],
  [`${MIB2}.88.2.1.3`, { name: 'mteHotContextName' }],
  [`${MIB2}.88.2.1.4`, { name: 'mteHotOID' }],
  [`${MIB2}.88.2.1.5`, { name: 'mteHotValue' }],
  [`${MIB2}.88.2.1.6`, { name: 'mteFailedReason' }],
]);

/** `upsWellKnownAlarms`: what upsAlarmDescr points at, by last number from 1 on. */
const UPS_ALARMS = `${MIB2}.33.1.6.3`;
const UPS_ALARM_WORDS = words(
  'upsAlarmBatteryBad upsAlarmOnBattery upsAlarmLowBattery upsAlarmDepletedBattery upsAlarmTempBad upsAlarmInputBad ' +
    'upsAlarmOutputBad upsAlarmOutputOverload upsAlarmOnBypass upsAlarmBypassBad upsAlarmOutputOffAsRequested ' +
    'upsAlarmUpsOffAsRequested upsAlarmChargerFailed upsAlarmUpsOutputOff upsAlarmUpsSystemOff upsAlarmFanFailure ' +
    'upsAlarmFuseFailure upsAlarmGeneralFault upsAlarmDiagnosticTestFailed upsAlarmCommunicationsLost ' +
    'upsAlarmAwaitingPower upsAlarmShutdownPending upsAlarmShutdownImminent upsAlarmTestInProgress',
);

/** OIDs that stand as values. */
export const OBJECT_NAMES: ReadonlyMap<string, string> = new Map(
  UPS_ALARM_WORDS.map((name, i) => [`${UPS_ALARMS}.${i + 1}`, name] as const),
);
