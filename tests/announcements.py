"""
Phrases that announce a credential, one a line, in both languages: `{}` stands for the value, ⏎ for a line break.

KEYS are ways to say a token of 24 or more letters and digits, PASSWORDS what a password manager makes. In what STAYS nothing
may be masked.
"""


def _lines(block: str) -> tuple[str, ...]:
    return tuple(line.replace("⏎", "\n") for line in block.strip().split("\n"))


KEYS = _lines(r"""
API_KEY={}
api_key = "{}"
api_key: {}
apiKey: '{}',
{"apiKey": "{}"}
X-API-Key: {}
export OPENAI_KEY={}
ENV GITHUB_TOKEN {}
$env:API_KEY = "{}"
os.environ["SERVICE_TOKEN"] = "{}"
setx ACCESS_TOKEN {}
token := "{}"
'secret' => '{}'
:auth_token => '{}'
define('AUTH_KEY', '{}');
const accessToken = `{}`;
SECRET_KEY_BASE={}
STRIPE_SECRET_LIVE={}
spring.security.client-secret={}
token -> {}
key: {}
//registry.test/:_authToken={}
{"name": "API_KEY", "value": "{}"}
- name: API_TOKEN⏎  value: {}
api_key: |⏎  {}
API_TOKEN=\⏎{}
deploy --token {}
deploy --token={}
run --api-key {}
cli login --auth-token '{}'
tool -token {}
gh secret set DEPLOY_KEY --body {}
curl -H 'Authorization: Bearer {}' x.test
curl -H "Authorization: token {}" x.test
Authorization: {}
Authorization: Basic {}
Proxy-Authorization: Bearer {}
X-Auth-Token: {}
api-key:{}
https://x.test/d?access_token={}
https://x.test/d?a=1&api_key={}&b=2
API_KEY=https://x.test/d?access_token={}
the api key is otpauth://totp/x:ann?secret={}&issuer=x
https://{}@host.test/repo.git
https://oauth2:{}@git.test/a.git
https://x.test/cb#access_token={}&state=1
redirect=https%3A%2F%2Fx.test%3Ftoken%3D{}
SENTRY_DSN=https://{}@o12.ingest.test/4
**API key:** {}
**API key**: `{}`
- API key: `{}`
| API_KEY | {} |
| API key | `{}` |
|API_KEY|{}|
<apiKey>{}</apiKey>
<td>API key</td><td>{}</td>
<tr><th>Access token</th>⏎<td>{}</td></tr>
<add key="ApiKey" value="{}"/>
<input name="token" value="{}">
<key>ApiKey</key>⏎<string>{}</string>
<string name="api_key">{}</string>
<dt>Secret</dt><dd>{}</dd>
_API key_: {}
`API_KEY` = `{}`
API key:⏎⏎    {}
API key⏎{}
Access token:⏎```⏎{}⏎```
api_key,{}
"token","{}"
### Secret key⏎⏎{}
the api key is {}
the api key for prod is {}
my token is {}
here is the access token: {}
use this token: {}
API key (staging): {}
the secret for the billing service is now {}
the token was changed to {}
token {}
bearer {}
${API_KEY:-{}}
${TOKEN:={}}
credentials: {}
withToken("{}")
client.setApiKey("{}")
login(token="{}")
密钥是{}
api密钥为：{}
秘钥是：{}
访问令牌（生产）：{}
令牌：{}
令牌 {}
请用这个密钥：{}
API密钥改成了{}
密钥如下：⏎{}
| 密钥 | {} |
**访问密钥**：{}
私钥为 {}
接口凭证是 {}
智谱的 API key 是 {}
存取金鑰：{}
密钥{}
授权码：{}
token是{}
「令牌」：「{}」
访问密钥ID和密钥：ID 是 12，密钥是 {}
key：{}
AK: {}
sk={}
""")

PASSWORDS = _lines(r"""
password={}
DB_PASSWORD='{}'
db_pass={}
pass: {}
pwd={};
Server=x;User=a;Pwd={};
passwd {}
password: {}
"password": "{}"
PW={}
${PW:-{}}
${DB_PASS:-{}}
PGPASSWORD={} psql
mysql -u root -p{} shop
mysqldump -p'{}' shop
sshpass -p {} ssh a@b.test
sshpass -p'{}' ssh a@b.test
psql --password {}
app --password={}
docker login -u ann -p {} r.test
redis-cli -a {} ping
requirepass {}
curl -u ann:{} x.test
curl --user ann:{} x.test
smbclient -U ann%{} //x/y
openssl enc -pass pass:{} -in a
IDENTIFIED BY '{}'
CREATE USER a WITH PASSWORD '{}'
postgres://app:{}@db.test/x
| Password | {} |
<password>{}</password>
<input type="password" value="{}">
**Password:** {}
password:⏎  {}
Password⏎{}
the password is {}
the db password for staging is {}
root password: {}
ds.setPassword("{}")
machine x.test login ann password {}
密码：{}
密码是{}
密码 {}
数据库密码 {}
root密码为：{}
口令是 {}
管理员密码（测试）：{}
密码改成{}了
| 密码 | {} |
wifi密码：{}
登入密碼：{}
密码={}
passphrase: {}
ansible_ssh_pass={}
mail.password={}
password => '{}'
password -> {}
""")

STAYS = _lines(r"""
credential: GoogleCredentialV2Factory
secret: projects/x/secrets/db-2/versions/latest
cursorToken: "eyJvZmZzZXQiOjEyMzQ1fQ9aB3"
page_token=CAUQAA8f3b2c1d9e
nextPageToken: CiAKGjBpNDd2Nmp2Zml2cXRwYjBpOXA
publicKeyToken="b77a5c561934e089"
primary_key: usr_8f3b2c1d9e
cache key 3f9a1c2e5b7d8f60a1b2c3d4e5f60718
partition_key=2026-11-22T10:11:12Z
gpg --recv-keys 5BE8A3F6C8A5C01D106C0AD820B1A390B168D356
exports.Socks5Auth = exports.Socks4Response
token = self.get_token(user_1234)
password = getpass.getpass()
auth: required; key: value12
the token count was 128000, the auth took 350ms
secret_name: prod-db-17
token_type: bearer
the key takeaway: 3 of 4 shards, v2.10.3-beta.4
BITMASK => 0xAFBAEBA8
'slovak': 'sk_SK.ISO8859-2'
API_KEY=⏎DB_HOST=db1.prod.x.test:5432
password:⏎  secretKeyRef:⏎    name: db1-creds
req.Header.Set("Authorization", "Bearer "+auth2.Cloud3.Token)
UNEXPECTED_TOKEN = /^Unexpected token (.*)/
pass v8::Object to it
token: ${{ secrets.GH_TOKEN_2 }}
password: ${DB_PASSWORD_1:-}
API_KEY=$(vault read -field=k1 x)
token: <your-token-1a2b>
api_key: YOUR_API_KEY_1a2b3c
keys: [k1, k2, k3]
monkey: D4 turkey: B7, compass: N12W34
secretary: room B12-4a
the author: R2D2C3PO
password must have 8 to 64 characters, 1 digit
my locker code is 4711
门禁密码是4711
我的门锁密码是 4711#
the wifi password is sunshine
wifi密码是 bergen2019
密码在第3页，2026-11-22改过
令牌桶每秒 1000 个，上限 20000
密钥长度 2048 位，AES-256-GCM
口令要有8位以上
凭证号 2026-11-0042
secret santa is on 2026-12-24 at 18:30
mkdir -p src/a1/b2C3
ssh -p2222 ann@host.test
docker run -p 8080:80 -u 1000:1000 x
ls -a build2/x86_64
tar -P -xf a1b2c3.tar
https://github.com/@ann/1234567890abcdef
git@git.test:ann/repo.git
passed 1842 tests in 12.4s
auth0|5f7c8ec7c33c6c004bbafe82 logged in
""")
