import { useEffect, useRef, useState } from 'react';
import { download } from '../../download.ts';
import { notifyProblem } from '../feedback/index.ts';

/** Of a CSV file, and how much of the whole is there with it. */
export interface FilePart {
  text: string;
  done: number;
  total: number;
}

/** Makes a CSV file part by part and hands it out; leaving the page ends that. `progress` is there while it is made: `40 %`. */
export function useFile() {
  const [progress, setProgress] = useState<string>();
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const make = async (name: string, parts: (signal: AbortSignal) => AsyncIterable<FilePart>) => {
    const controller = new AbortController();
    const { signal } = controller;
    stop.current = controller;
    const texts: string[] = [];
    try {
      setProgress('0 %');
      for await (const { text, done, total } of parts(signal)) {
        texts.push(text);
        setProgress(`${total > 0 ? Math.min(100, Math.floor((done / total) * 100)) : 100} %`);
      }
      download(name, 'text/csv;charset=utf-8', texts);
    } catch (error) {
      if (!signal.aborted) notifyProblem('The file was not made', error);
    } finally {
      setProgress(undefined);
    }
  };
  return { progress, make, cancel: () => stop.current?.abort() };
}
