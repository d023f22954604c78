import { useEffect, useRef, useState } from 'react';

/** Two tones, in seconds and hertz. */
const TONES = [
  { at: 0, hz: 880 },
  { at: 0.25, hz: 660 },
] as const;
const TONE_S = 0.2;

function sound(context: AudioContext): void {
  for (const { at, hz } of TONES) {
    const [tone, level] = [context.createOscillator(), context.createGain()];
    tone.frequency.value = hz;
    level.gain.value = 0.2;
    tone.connect(level).connect(context.destination);
    tone.start(context.currentTime + at);
    tone.stop(context.currentTime + at + TONE_S);
  }
}

/** Where `wanted`: sounds, and tells the desktop where the browser allows it, when there is more open than before. `blocked`: the browser waits for a click. */
export function useAlarm(open: number | undefined, wanted: boolean): { blocked: boolean; allow: () => void } {
  const context = useRef<AudioContext>(undefined);
  const before = useRef(open);
  const [blocked, setBlocked] = useState(false);
  useEffect(() => {
    if (!wanted) return;
    const made = new AudioContext();
    context.current = made;
    setBlocked(made.state === 'suspended');
    made.onstatechange = () => setBlocked(made.state === 'suspended');
    return () => {
      context.current = undefined;
      void made.close();
    };
  }, [wanted]);
  useEffect(() => {
    const more = open !== undefined && before.current !== undefined && open > before.current;
    before.current = open;
    if (!more || !wanted) return;
    if (context.current) sound(context.current);
    if ('Notification' in window && Notification.permission === 'granted')
      new Notification('Rollcall', { body: `${open} open`, tag: 'rollcall-wall' });
  }, [open, wanted]);
  return { blocked: wanted && blocked, allow: () => void context.current?.resume() };
}
