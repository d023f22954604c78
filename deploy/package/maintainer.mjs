// Who answers for the packages: Debian wants a person's name and address (Debian policy, 5.6.2).

/** As Debian's own tools take it from the environment; undefined where it says nothing. */
export const fromEnvironment = ({ DEBFULLNAME, DEBEMAIL }) =>
  DEBEMAIL && (DEBEMAIL.includes('<') ? DEBEMAIL : `${DEBFULLNAME ?? DEBEMAIL.split('@')[0]} <${DEBEMAIL}>`);

/** The `Maintainer` field out of such text, or of an author as package.json has one. Ends the program where it is none. */
export function maintainerOf(author) {
  const { name, email } = typeof author === 'string' ? partsOf(author) : author;
  if (!name || !email) {
    console.error(
      `rollcall: "${typeof author === 'string' ? author : JSON.stringify(author)}" names no maintainer: give NAME <ADDRESS>`,
    );
    process.exit(2);
  }
  // RFC 2606: nobody has such an address.
  if (email.endsWith('.invalid'))
    console.error(
      `rollcall: nobody can write to ${email}: before the packages go to others set author in package.json, or DEBEMAIL`,
    );
  return `${name} <${email}>`;
}

const partsOf = (text) =>
  /^\s*(?<name>[^<>\n]+?)\s*<(?<email>[^<>@\s]+@[^<>@\s]+)>\s*$/.exec(text)?.groups ?? {};
