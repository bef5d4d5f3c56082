/** SHA-256 of the sources; the build puts it in. */
declare const __SOURCES__: string;

declare module "*.css" {
  const text: string;
  export default text;
}
