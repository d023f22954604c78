import Markdown from 'markdown-to-jsx';
import type { ComponentProps } from 'react';
import classes from './markdown.module.css';

/** What people wrote leads elsewhere: a window of its own, which learns nothing of where it was opened. */
const Away = ({ children, href }: ComponentProps<'a'>) => (
  <a href={href} target="_blank" rel="noopener noreferrer">
    {children}
  </a>
);
/** Pictures of elsewhere would tell elsewhere who reads. */
const Unseen = ({ alt }: ComponentProps<'img'>) => <>{alt}</>;

const OPTIONS = {
  disableParsingRawHTML: true,
  forceBlock: true,
  wrapper: 'div',
  overrides: {
    a: Away,
    img: Unseen,
    // The headings of the page are its own.
    ...Object.fromEntries(
      ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((name) => [name, { component: 'strong' }]),
    ),
  },
} as const;

/** What people wrote, with the marks of Markdown; HTML is text. */
export const Prose = ({ text }: { text: string }) => (
  <div className={classes.prose}>
    <Markdown options={OPTIONS}>{text}</Markdown>
  </div>
);
