module.exports = requireOnce('@n8n/backend-common');
