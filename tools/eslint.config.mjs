export { toolingConfig as default } from './eslint.base.mjs';
