import type { ReactNode } from 'react';

/** A part that scrolls by itself: keys must be able to do that, so it takes the focus. */
export const Scroller = ({
  label,
  className,
  children,
}: {
  label: string;
  className: string | undefined;
  children: ReactNode;
}) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: WCAG 2.1.1, what scrolls can be scrolled without a mouse
  <section className={className} tabIndex={0} aria-label={label}>
    {children}
  </section>
);
