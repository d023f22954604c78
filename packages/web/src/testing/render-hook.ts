import { act, createElement, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';

/** React and hooks ask it for events; tests send them there. */
export const window = new EventTarget();
Object.assign(window, { HTMLIFrameElement: class {} });
Object.assign(globalThis, { window, IS_REACT_ACT_ENVIRONMENT: true });

/** As much of an element as React needs to run hooks: what draws nothing needs no document. */
const container = (): Element => {
  const events = { addEventListener: () => undefined, removeEventListener: () => undefined };
  const ownerDocument = { nodeType: 9, activeElement: null, defaultView: window, ...events };
  return { nodeType: 1, nodeName: 'DIV', tagName: 'DIV', ownerDocument, ...events } as unknown as Element;
};

export interface HookRun<Props, Result> {
  readonly current: Result;
  render: (props: Props) => void;
  unmount: () => void;
}

function Probe({ run }: { run: () => void }) {
  run();
  return null;
}

/** Runs a hook as a component would; what changes its state goes into `act`. `wrap` puts providers around it. */
export function renderHook<Props, Result>(
  hook: (props: Props) => Result,
  first: NoInfer<Props>,
  wrap: (children: ReactNode) => ReactNode = (children) => children,
): HookRun<Props, Result> {
  const root = createRoot(container());
  let current: Result;
  const render = (props: Props) => {
    const run = () => {
      current = hook(props);
    };
    act(() => root.render(wrap(createElement(Probe, { run }))));
  };
  render(first);
  return {
    get current() {
      return current;
    },
    render,
    unmount: () => act(() => root.unmount()),
  };
}
