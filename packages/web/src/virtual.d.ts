declare module 'virtual:operations' {
  const routes: Record<import('@rollcall/shared/api/index').OperationId, [method: string, path: string]>;
  export default routes;
}
