declare module 'virtual:operations' {
  const routes: Record<
    import('@rollcall/shared/api/index').OperationId,
    [method: string, path: string, query: string[], access: import('@rollcall/shared/api/operation').Access]
  >;
  export default routes;
}
declare module 'virtual:theme.css';
declare module '@fontsource-variable/ibm-plex-sans/wght.css';
declare module '@fontsource/ibm-plex-mono/latin-400.css';
