"""
Table of credential formats by issuer: prefix, body, example, near miss; data only.

    kind        the name in the mark that stands in the secret's place
    prefixes    what it begins with, after no letter or digit; between spaces
    body        what follows, as a regular expression of ASCII; a body that reads like words is none
    example     one that must be masked, drawn at random; a dot · in its prefix, so that this file holds no secret
    look-alike  what begins so and must stay

Prefixes and lengths are those that the issuers document or are known to use, with room for longer ones. Tests are made from
these lines: each example is masked alone, in a sentence, in JSON, in an address and behind an announcement; each look-alike stays.
"""

LINES = r"""
# clouds
aws-access-key         | AKIA ASIA ABIA ACCA | [A-Z0-9]{16} | AK·IA9SWYBW2GRRWKT7ZS | AKIA_REGION_TABLE_V2
aws-bedrock-key        | ABSK | [\w+/-]{80,}+ | AB·SK6v3zHxSBoOroFnMqdCwlJW6qIiBKnf2uiDKxYx6zBkrgXhlFs2DpkzliEQfQBrofynLnSwNWPR4ATdEu+eNP | ABSKY_IS_NO_PREFIX_OF_ANY_KEY
aws-bedrock-key        | bedrock-api-key- | [\w+/-]{60,}+ | bedrock-·api-key-Tbp+DnIp0+LcKK70Qbt+dAdXsurEnWmDwOWyIYWs7EkEoJ8198yaF4gVSgRuYYCt | bedrock-api-key-rotation-runbook
google-api-key         | AIza | [\w-]{35} | AI·zaTNuGThhvTS2eKLGAnQCVPbT-Dc80hhwmuLq | AIza...
google-api-key         | AQ. | [\w-]{40,}+ | A·Q.IjlOmXYewY9G6oAiIQHJy6YtrP-cpDC5r9MFOdvrIski | AQ.Questions-and-answers-about-the-new-interface
google-oauth-token     | ya29. | [\w.-]{20,}+ | ya·29.RToA9pr3FalV4LQ8fO7MEE3T | ya29.short
google-refresh-token   | 1//0 | [\w-]{30,}+ | 1/·/01A4Si7ClVQ968mw8z4xB86rUqo9agKagwf | 1//0x
google-oauth-secret    | GOCSPX- | [\w-]{20,}+ | GOC·SPX-1S62vjFb4WXCZRC9hxIIfc4v | GOCSPX-an-example-of-a-name-that-only-has-words-in-it
alibaba-access-key     | LTAI | [^\W_]{12,30}+ | LT·AImywU0RDhabsW6cV8VoZki | LTAI5t
tencent-secret-id      | AKID | [^\W_]{28,40}+ | AK·IDeWUlpDn0B0ZTlbtIFGK2i2qi00IVYJy5Lp | AKIDs_of_all_our_regions
baidu-access-key       | ALTAK- | [^\W_]{16,}+ | ALT·AK-fcvYgdEp1BDi4fNZHL5u | ALTAK-xxxx
volcengine-access-key  | AKLT | [^\W_]{36,60}+ | AK·LTT1DbURShhaXw3NjpFKWwCMo7mqCPJxuD73W9bCctZtMiQ7tK | AKLTs_are_listed_in_the_console
oracle-fingerprint-key | ocid1.credential. | [\w.-]{20,}+ | ocid1.cr·edential.iqj2puNOnF7IGjTvZeOp3f5u | ocid1.credential.region.example
yandex-key             | AQVN | [\w-]{35,40}+ | AQ·VNpjc-uhNKQcrIj5YXRSTMvbPElQHGRMSRdMHN2 | AQVN_is_how_they_begin
yandex-token           | y0_ y1_ y2_ y3_ | [\w-]{50,}+ | y·0_6hmQOsVgi7lSpX7IB3unkkGusJdV7xEzLIumQlHmr9w57nj14CP0e9 | y0_and_y1_are_the_corners_of_the_box_in_pixels_on_the_screen
digitalocean-token     | dop_v1_ doo_v1_ dor_v1_ | [0-9a-f]{64} | dop·_v1_773113c605c49e1a4486592fb3f0dcf318dac43ef2a966bf48f37efb89455f6f | dop_v1_abc
heroku-key             | HRKU- | [\w-]{36,}+ | HR·KU-5F59hDu1LXXvh1r2MhgVFdTgOg1GrFRITyhYEqWy | HRKU-an-example-of-a-name-that-only-has-words
cloudflare-token       | cfut_ cfat_ cfk_ | [^\W_]{40,}+ | cf·ut_obXBVQKyLY0sPax8KX60VGJkpA7jZI0xAXsH2YxDFPcV | cfut_limits_per_account
cloudflare-ca-key      | v1.0- | [0-9a-f]{24}-[0-9a-f]{146} | v1·.0-6a3b11fe5e3e348ec6630be9-f0c796538348732891a7ebb8e8e2d19d164112cbf9ea708866bcd053a0a82f5d64d7fd1555254976d87f357a1f097856fd86d80ff570f20a41960a009f1a33a38f56599a02afa4bf86 | v1.0-beta
vercel-token           | vcp_ vci_ vca_ vcr_ vck_ | [^\W_]{24,}+ | vc·p_lZyum8UsmgfiH2e6dQlw4Tu2TAWE | vcp_project_settings_for_previews
netlify-token          | nfp_ nfc_ nfo_ nfu_ nfb_ | [^\W_]{36,}+ | nf·p_unFjwBC1uPaVvqaROGIUe8YbI10QBYsyR4AUBkgF | nfp_rules_for_the_frontend_proxy_in_eu
render-key             | rnd_ | [^\W_]{28,}+ | rn·d_McehnoiJBNzMNXpF74FUblh9GzZZi0AY | rnd_float_between_zero_and_one_inclusive
fly-token              | fm2_ fm1r_ fm1a_ fo1_ | [\w+/-]{60,}+ | fm·2_nUQVzi8sYjjRCzBQ2pojyuARx6VnxuDAJTBnkwQmlszlOW7rZFIwi9I1sheoQsJy | fm2_synth_patch
scaleway-key           | SCW | [A-Z0-9]{17} | S·CWNY09J9XAG4PMMGCUV | SCW_DEFAULT_REGION
openshift-token        | sha256~ | [\w-]{43} | sha·256~AH3cTHn4BG_1iLSjR7nffZQ3_mfRMKJT2_K2tqCAzYT | sha256~an-example-of-a-name-that-only-has-words-
# code hosts, packages, builds
github-token           | ghp_ gho_ ghu_ ghs_ ghr_ | [^\W_]{36,}+ | gh·p_wHogsRFJ89prLI7lUQFIN0wWfEJXwVHpWQDuYApS | ghp_build_artifacts_of_the_release_branch
github-token           | github_pat_ | [^\W_]{22}_[^\W_]{59} | githu·b_pat_dNQtkFBMQGE99mU5cj5URB_JFwUVBbKy2yHkORTLtomw6D1bWCz3pWYDOkDHk9gk1Hj8pJtVKjhu0THrzW | github_pat_rotation_for_the_release_robots
gitlab-token           | glpat- gloas- gldt- glrt- glrtr- glptt- glcbt- glft- glffct- glsoat- glagent- glimt- glwt- | [\w.-]{20,}+ | glp·at-giowUxdtU9hjp81c6xH6tL4s | glpat-in-the-settings-of-the-project
gitlab-runner-token    | GR1348941 | [\w-]{20,}+ | GR13·4894158gsNCyxMmllT85O74l7uxG2 | GR1348941
atlassian-token        | ATBB ATATT ATCTT ATSTT | [\w.-]{24,}+ | AT·BBmrjc8ADUWMkDYUMwbcKdN3W2kBpN | ATBB
circleci-token         | CCIPAT_ CCIPRJ_ | [^\W_]{20,}+_[0-9a-f]{40} | CCI·PAT_ulXbw9a01hNKGOkFwvl3FNKF_23bce4e93dff3f5040c724508b92472f23cd02eb | CCIPAT_per_project_and_user
buildkite-token        | bkua_ bkpt_ bkct_ | [^\W_]{32,}+ | bk·ua_IrBbSaBjciBcONeAoypNsljNdR8Bc29XoEnN | bkua_tokens_are_listed_below
npm-token              | npm_ | [^\W_]{36,}+ | np·m_g2gTkrGS3hempLhPOytMPBRvTTrc481x5WsSZYe5 | npm_config_registry_of_the_frontend_build
pypi-token             | pypi- | [\w-]{50,}+ | py·pi-PhuplWmlI8phwBCC6ir2zYc3frFgAI84vSRcOeoJiZqCm658TRgdb1 | pypi-upload-of-all-wheels-and-the-source-of-this-release
rubygems-key           | rubygems_ | [0-9a-f]{48} | ruby·gems_c0c4940857476b1a698036c58647390aaef4ba76b5120c85 | rubygems_mirror
nuget-key              | oy2 | [a-z0-9]{43} | o·y2ejo1pv8buuuzexlshzn5tdpiz81i1uugns6a35o8j6z | oy2k
crates-key             | cio | [^\W_]{32} | c·iookmMYMG5BDMpUtjaP8JbyK17WllMQwMN | cio_budget
clojars-token          | CLOJARS_ | [a-z0-9]{60} | CLOJ·ARS_6bvqb86spp3pfmmnhv7ji0coi2anycwi1dedfr18b894aafo0tzy9tz9wp68 | CLOJARS_USERNAME
docker-token           | dckr_pat_ dckr_oat_ | [\w-]{27,}+ | dckr·_pat_7dubzK-x9QTP-3yOixSHNMHQ2x2c4Jk | dckr_pat_of_the_build_machine_in_the_corner
jfrog-key              | AKCp | [^\W_]{60,}+ | AK·Cp8biTjEuUr7lq8PVZmbFcKbdkyCPEuxnTJKZckXtOU14PzN9HJI6cLRm66zKB3i94 | AKCp8
terraform-token        | tfe- | [\w.-]{40,}+ | tf·e-iOhdpn2G6euafjecDCgHmTdrkEReLMSMPpdCW1BKOwNw | tfe-runs-of-this-workspace-are-shown-in-the-table-below
pulumi-token           | pul- | [0-9a-f]{40} | pu·l-8fcd516d5c3043f655c8f2653598c51e78eec10e | pul-requests
doppler-token          | dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. | [\w.-]{36,}+ | dp.·pt.BP9wwMb6rFPbjob46mC59vFSFVOOxmADGz1OoJsy | dp.pt.x
vault-token            | hvs. hvb. hvr. | [\w-]{24,}+ | hv·s.02MMJNBwpdGEGbEAi3JFEJZt_8Zk | hvs.an-example-of-a-name-that-only-has-words
onepassword-token      | ops_ | eyJ[\w-]{60,}+ | op·s_eyJSSQblSIYIeKHnYhqu57dxi3VxL6zcHndBvKD6plCkAioeM1mfwI49nuSNe9xG7dG | ops_eyJ
onepassword-key        | A3- | [A-Z0-9]{6}-[A-Z0-9]{6}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5} | A·3-W7LH2V-2PKG0N-41D1N-7PL6S-4Z1ZY-J1RVV | A3-SERIES-FOLDER-OF-OUR-PAPER
infisical-token        | st. | [0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32} | s·t.6495f7b32b6f7b31b4466fd8.967c615837e04399d93d9021528f0572.d1dc255e3059fcf8c579f40d905db688 | st.johns
sonar-token            | squ_ sqp_ sqa_ | [0-9a-f]{40} | sq·u_0e1f84965855b1e0a559d8412517f5833f8d1cce | squ_tests
sourcegraph-token      | sgp_ | [0-9a-f]{40} | sg·p_d0cddf422e456ddea5c48f293fc0441310ec8a72 | sgp_index_of_repositories
snyk-token             | snyk_uat. | [\w.-]{40,}+ | snyk·_uat.vOEHn8JjAjb9bH4FdmoMeNOFZNCkU5BB0u309NN1M5iq | snyk_uat.x
launchdarkly-key       | sdk- | [0-9a-f-]{36} | sd·k-33a32016-c55c-f5c5-dca6-418d293a920e | sdk-for-python
octopus-key            | API- | [A-Z0-9]{26,40}+ | AP·I-B9W91ZWXP0GKW96J2ZWAQ34KSOPTSZGEO | API-REFERENCE
expo-token             | eas_ | [\w-]{40,}+ | ea·s_W_Rn8dR1Ywqo4m-EV26z6EhwcysE5eTixNUnS_6CJ5pA | eas_build_profile_for_the_internal_preview_of_the_app
codecov-token          | cvt_ | [^\W_]{32,}+ | cv·t_oR0NUV6pdL27FCzDeRtc04IbO89S3ICNOm5O | cvt_utf_to_latin_table_of_the_tests
tailscale-key          | tskey-api- tskey-auth- tskey-client- tskey-scim- tskey-webhook- | [\w.-]{16,}+ | tskey·-api-gj0oE7c2lO9nCLRPzJZM | tskey-auth-x
ngrok-key              | ngrok_ 2ngrok_ | [^\W_]{40,}+ | ngr·ok_J92ftnm1cM88tnX6nnxDrZkLL4IX6cHx8P3sOaaEMLSb | ngrok_tunnels_of_the_office_network_in_use
# models and what serves them
anthropic-key          | sk-ant- | [\w-]{24,}+ | sk-·ant-RdAuwlk_ToBTG4pcSHlQyE5Io1k1 | sk-ant-...
openai-key             | sk-proj- sk-svcacct- sk-admin- sk-None- | [\w-]{20,}+ | sk-p·roj-KXM15voUDSkR7iYCpb6QGW_B | sk-proj-an-example-of-a-name-that-only-has-words
langfuse-key           | sk-lf- | [0-9a-f-]{36} | sk-·lf-b3df88e3-2a29-6367-cb01-c84a26a400a7 | sk-lf-...
openrouter-key         | sk-or- | [\w-]{40,}+ | sk-·or-8SaCAY-1UNMc9hPypTDeuuRcGXo5WCXUikV4WrB2oDHv | sk-or-swim-or-whatever-you-like-to-do-on-a-sunday
model-api-key          | sk- | (?:[a-z0-9]{2,8}-){0,3}[^\W_]{20,}+ | s·k-6Mw5neGYn1F2iTxEnkDQ8GUF | sk-learn-pipelines-with-many-steps-in-them
model-api-key          | gsk_ xai- pplx- nvapi- r8_ csk- fw_ tgp_v1_ rpa_ esecret_ api_org_ nebius- | [\w-]{30,}+ | gs·k_cGap1RDxjhn59lUlr7kSzwCFVdb1m1eDJP | pplx-an-example-of-a-name-that-only-has-words
voyage-key             | pa- | [\w-]{43} | p·a-ts-01pZG8NljpGs8Ibglf_fIY8DpEy8Yoomw2FU1TMT | pa-an-example-of-a-name-that-only-has-words-in-it
huggingface-token      | hf_ | [^\W_]{30,}+ | h·f_8ruTCWejxgLn8PZCxKpBCEXx1M3O1M5jsj | hf_hub_download_of_every_weight_file
elevenlabs-key         | sk_ | [0-9a-f]{48} | s·k_b07212c2d99fbe53084a26989209b721b8e7c38f1ca46954 | sk_buff
langsmith-key          | lsv2_pt_ lsv2_sk_ | [0-9a-f]{32}_[0-9a-f]{10} | lsv2·_pt_e2d4889ab457400c5d64fcd88fc4568c_1b0623e394 | lsv2_pt_x
pinecone-key           | pcsk_ | [\w-]{40,}+ | pc·sk_J7SiHcHDQY2LUgpyTB9XEYdj6yhcAf33xl_153f5Mtuq | pcsk_an_example_of_a_name_that_only_has_words_in_it
tavily-key             | tvly- | [\w-]{28,}+ | tv·ly-tkx7PlNgmsBaNvlBZJJ2ytW8IGKhRLXl | tvly-an-example-of-a-name-that-only-has-words-in-it
firecrawl-key          | fc- | [0-9a-f]{32} | f·c-5887e3fb6b86cb43209fed6e1939fdc0 | fc-barcelona
jina-key               | jina_ | [\w-]{40,}+ | ji·na_kfEYrfdylSYnacdhN94NOD_9qQKL17xKuWQXEHcHzzu1 | jina_embeddings_of_the_latest_version_for_english_and_chinese
e2b-key                | e2b_ | [0-9a-f]{40} | e2·b_e271615cf662c8a913c12f59915bf9f8193e4f95 | e2b_sandbox
browserbase-key        | bb_live_ bb_test_ | [\w-]{24,}+ | bb_l·ive_UcQwVzKQbUzpjafTh814bmdFZ6OC | bb_live_an_example_of_a_name_that_only_has_words
wandb-key              | wandb_v1_ | [\w-]{40,}+ | wand·b_v1_pj7fDg3lP0p4x95IFZoM0686GP5nLquxEjd-WpZLSvvu | wandb_v1_an_example_of_a_name_that_only_has_words_in_it
replit-key             | rpl_ | [^\W_]{30,}+ | rp·l_XQebuGsZXoyAVNiSNoENN7KL4WFFaQaxug | rpl_buffer_of_the_line_editor_in_use
cursor-key             | crsr_ key_ | [0-9a-f]{64} | cr·sr_13379ef4dd00171ad9b085cc72a1b2441ef2c86345d9f1c3492c9c4d09f84c7b | key_of_the_map
logfire-token          | pylf_v1_ | us_[^\W_]{40,}+ | pylf·_v1_us_amxjAdfIDHd2U2PNzxITtLODX3fVtXVUyfuUFGYY4U7e | pylf_v1_us
braintrust-key         | bt-st- | [^\W_]{40,}+ | bt-·st-bgSQWp2YaG1AQAreXaGd0Dm0I4VbmQUBoYYmGE9vxxCR | bt-st-x
unkey-key              | unkey_ | [^\W_]{20,}+ | unk·ey_a5xdiZwBAJ2JWiNC0uUByuM0 | unkey_the_columns_of_that_table
prefect-key            | pnu_ pnb_ | [^\W_]{36} | pn·u_fdKdOUJrzA3hR24qUcAVHa6eggntR3kwzbK7 | pnu_tests
runway-key             | key_ | [0-9a-f]{128} | ke·y_1b5ae13816ed41c01e9bf0c02aa469bb4021b55489693bbf5fcb99cca850d0cf519fbe1d99dbee802e7da5aeb76f85d66b22740d64afb32ea79300d7fafca7c3 | key_error
n8n-key                | n8n_api_ | [\w-]{40,}+ | n8n_·api_yaBJN75o4eowSe9YPrNSxzdIvQ-250tgZOLJ9x0Dczfp | n8n_api_an_example_of_a_name_that_only_has_words_in_it
# talk, mail, calls
slack-token            | xoxa- xoxb- xoxc- xoxe- xoxo- xoxp- xoxr- xoxs- xoxd- xapp- xoxe.xoxp- xoxe.xoxb- | [\w.-]{20,}+ | xo·xa-gHZZ1BgmUc0mfXK9Kh4AzY0E | xoxb-an-example-of-a-name-that-only-has-words
twilio-key             | SK | [0-9a-f]{32} | S·Ka1398500d61d23507ae51cbe2ad68d8e | SKILLS
sendgrid-key           | SG. | [\w-]{16,32}+\.[\w-]{32,64}+ | S·G.E8eBPbBurw233oKwwmN3SAZY.dT6ufKVQqaNGsaq9ZD09PMN8exzCCXu-GG8jc6XWob9BMgCi | SG.Singapore.office
mailgun-key            | key- | [0-9a-f]{32} | ke·y-7a76d14a9324fec8704d0f352db6b841 | key-value
brevo-key              | xkeysib- xsmtpsib- | [0-9a-f]{64}-[^\W_]{16} | xkey·sib-7c1b95cf508aa164f7917b6e24246510f4635db7886856bd286be210b4051131-DrfDlH06nwtlf6ZW | xkeysib-x
resend-key             | re_ | [^\W_]{8}_[^\W_]{24,28}+ | r·e_yiO7ERo4_Pn3J0zENq8HAQACq0o6s1mlkJJ | re_compile_all_of_the_patterns_that_we_know
postmark-key           | POSTMARK_ | [0-9a-f-]{36} | POST·MARK_c0afc20f-291f-0dd4-e66a-e267fa64ca70 | POSTMARK_API
discord-token          | mfa. | [\w-]{80,}+ | mf·a.HUMwTlohHEbmTGEcYnaqG4yzMS1fAfi8drhcdVVZhkIFrGeIGQn78fXq4M5vKlD3-R3i-O_5CTAAJl0x0z_k | mfa.enabled
line-token             | lineoa_ | [^\W_]{40,}+ | lin·eoa_pUX5TEZkvRqE1vTUeHAp26E5zt61h4AfiucHJIUndATY | lineoa_x
intercom-token         | dG9rO | [\w+/-]{40,}+ | dG·9rOESiDBbswXox7mLwPw+uopB2dwnPliXisSsZYQ/sYI0En | dG9rOg
hubspot-token          | pat-na1- pat-eu1- pat-na2- pat-ap1- | [0-9a-f-]{36} | pat-·na1-07d730f4-30b8-b098-4442-4d4092be033d | pat-na1-x
typeform-token         | tfp_ | [\w-]{40,}+ | tf·p_58J6epYUdnXWZ3zW-k-FWCU3nIR2CD8UVcHF1g7vz1y6 | tfp_an_example_of_a_name_that_only_has_words_in_it
dingtalk-secret        | SEC | [0-9a-f]{64} | S·EC3ab5fecbd95d0002f188fb651e2e1d0dd75dba1ae6f81b368ac377b79597abf7 | SECTION
# money
stripe-key             | sk_live_ sk_test_ rk_live_ rk_test_ sk_org_live_ sk_org_test_ | [^\W_]{16,}+ | sk_l·ive_Af5JaJi33qqd5sYbWBq2 | sk_test_fixtures_for_payments
stripe-key             | whsec_ | [\w+/-]{24,}+ | whs·ec_w3B0xVQMaMFyJF22ukeDFZy91rSu | whsec_handler_for_the_orders
square-token           | EAAA | (?<![+/]EAAA)[\w-]{56,}+ | EA·AAeCHL6wtKwZHSdrrEPbyukgymZplU25wH715BpDaeqYQ6zeGMO7recL8IlRke | EAAA
square-token           | sq0atp- sq0csp- sq0idp- | [\w-]{22,44}+ | sq0·atp-EsUfq2Q7Q7rIDV2tV7SChit2WpRVpf3AN | sq0atp-x
meta-token             | EAA | (?<![+/]EAA)[^\W_]{80,}+ | E·AAxCNPqYZEV4dMVfFFSAk7jKLsVLSTqj019LJd6tfHS0q4ZRZ1xQqqSniUxxKWjYjDgTNcWP2A16vCg7y5NU5G | EAA_table
paystack-key           | FLWSECK- FLWSECK_TEST- | [0-9A-Fa-f]{32,}+ | FLWS·ECK-df732bf76b321c9c3a826e84d5ebf4b2dec0 | FLWSECK-TEST
razorpay-key           | rzp_live_ rzp_test_ | [^\W_]{14,}+ | rzp_·live_gemFKcR4aliMgYZoyU | rzp_test_orders
shopify-token          | shpat_ shpca_ shppa_ shpss_ shpua_ shptka_ | [0-9A-Fa-f]{32} | shp·at_8c2113ac20efc80bd40c880aac7a83d7 | shpat_scopes
shippo-token           | shippo_live_ shippo_test_ | [0-9a-f]{40} | shippo·_live_18b513ed43d12780c3b2a8a1354078d3ba8c6b2a | shippo_test_labels
easypost-key           | EZAK EZTK | [^\W_]{54} | EZ·AKOTIGQjxmyiSq3rB7EbKIF0F4UsTTIeg4LNljDrd3UjADQZXizXjyBJ | EZAK
duffel-token           | duffel_live_ duffel_test_ | [\w-]{43} | duffel·_live_rVCQsWKPvrPGFh3pAfhwJEva1q9C4JkdD4CBCNFM78J | duffel_test_an_example_of_a_name_that_only_has_words
plaid-token            | access-production- access-sandbox- access-development- | [0-9a-f-]{36} | access-pr·oduction-50d3acdd-0bcb-1f25-f5c7-94ef240b345c | access-production-logs
coinbase-key           | organizations/ | [0-9a-f-]{36}/apiKeys/[0-9a-f-]{36} | organiz·ations/ee9e9f75-5fba-807b-79b8-bff09c357f5d/apiKeys/e0fc1f6f-85c0-1802-ca5c-58fcfd412712 | organizations/list
woocommerce-key        | ck_ cs_ | [0-9a-f]{40} | c·k_0c37ee0851b1d2e81bf8fcee623d291ee74ef7c8 | cs_students
# data, watching, maps, plans
databricks-token       | dapi dkea dose | [0-9a-f]{32} | da·pi4ae748e989ad434a8f13dfcfd35c0e09 | dapiece
supabase-key           | sbp_ sb_secret_ | [\w-]{24,}+ | sb·p_3LBROasc0HjBWpSjdWiFdfbD_OEG | sb_secret_an_example_of_a_name_that_only_has_words
planetscale-token      | pscale_tkn_ pscale_pw_ pscale_oauth_ pscale_api_ | [\w.-]{32,}+ | pscal·e_tkn_YGe3Gac6c1lb7qGozwVNDz3jMbT4QWm9YNy0 | pscale_pw_an_example_of_a_name_that_only_has_words
neon-key               | napi_ | [^\W_]{40,}+ | na·pi_uS2nGtviIzAAsM7XaGaoluyzlIFkke3IijQL0lCcQZhx | napi_create_function_and_all_the_other_calls
mongodb-key            | mdb_sa_sk_ | [\w-]{32,}+ | mdb_s·a_sk_cO86uFYaOi90juFadGj3iT1FUBhbGKXfQ09G | mdb_sa_sk_an_example_of_a_name_that_only_has_words
redis-key              | rediscloud_ | [^\W_]{40,}+ | redis·cloud_gluA2xG4PIYbOApfmvkNYeN0KZ4ichpcdOj1jqWz2Dff | rediscloud_x
confluent-key          | cflt | [\w+/-]{60} | cf·ltxPAQ9NFAarc6sfHtGyELrtF4TedsAiwzWdesW34gYTabx38NnNgUNMZsUTkw | cflt_table
sentry-token           | sntrys_ sntryu_ sntrya_ sntryi_ | [\w+/-]{40,}+ | snt·rys_2UPFeYBZncWXrZdTVQc5AT9m+hs3Dh80TlkEN/hYkEgM | sntrys_an_example_of_a_name_that_only_has_words_in_it
newrelic-key           | NRAK- NRII- NRJS- NRRA- NRSP- NRIQ- NRAA- | [\w-]{18,}+ | NR·AK-rLyYNxMBCmAORlx3FNKCJj | NRAK-an-example-of-a-name
grafana-token          | glsa_ glc_ | [\w+/-]{32,}+ | gl·sa_zUA/i4nRNWJ8ofLyCrwYxWVwkSixq9TNxm76 | glsa_an_example_of_a_name_that_only_has_words
dynatrace-token        | dt0c01. dt0s01. dt0s02. dt0s06. dt0s16. | [A-Z0-9]{24}\.[A-Z0-9]{64} | dt0·c01.71AUVZIQ6CHKUE6OM0OK5UMM.SPM5YVZ4L8I2RZ8R5SW38I6ZO418X6DQGLTW20UB3QN80NNK1LEPSBOA1QW8BU4I | dt0c01.X
honeycomb-key          | hcaik_ hcbik_ hcxik_ hcamk_ | [a-z0-9]{40,}+ | hca·ik_gs3jgfuptwsgb9zlh0zalddma2bntluqn56sgdhbmxy3 | hcaik_x
axiom-token            | xaat- xapt- | [0-9a-f-]{36} | xa·at-8e14d247-318b-aca4-53af-4ad41c0bc785 | xaat-x
statsig-key            | secret- | [^\W_]{40,50}+ | sec·ret-eYmfVNBAa2XkF06RryzdVi58xSI5HzjiBNUiBsKUyOIB2 | secret-santa
posthog-key            | phx_ phs_ | [^\W_]{30,}+ | ph·x_B4xZCqa3jQosXKxybsbFKkjZxRONpHSG6c | phx_server_of_the_elixir_application
amplitude-key          | ampl_ | [0-9a-f]{32} | am·pl_17db3d515ca246c4383e013e1721384a | ampl_x
notion-token           | ntn_ | [^\W_]{40,}+ | nt·n_1BYNytj0usA3w0LQV11fGrATDqgIXiTYcmQ7zenXISB2 | ntn_database_of_the_whole_reading_group_list
linear-key             | lin_api_ lin_oauth_ lin_wh_ | [^\W_]{32,}+ | lin_·api_tikPcaY7vN8gRy6yCYbntMzCfCSrorSOcwcm | lin_api_x
figma-token            | figd_ figu_ figo_ | [\w-]{36,}+ | fi·gd_uXoAwW7fqzWDhQykvKdOqqZ-YRkgWJme-tD6-f9a | figd_an_example_of_a_name_that_only_has_words
airtable-token         | pat | [^\W_]{14}\.[0-9a-f]{64} | p·atBoR7cqvpeclCGp.f1c80295445d479ba54d2e5fa49b56eb87bddbe3d80b4bfbd6e7f5633b92ef4d | patience.of
asana-token            | 1/ 2/ 0/ | [0-9]{14,}+:[0-9a-f]{32} | 1·/2304936657911921:e4c1e2bbd00858ac644378941ef6dd21 | 1/12
trello-token           | ATTA | [0-9a-f]{64} | AT·TA43d257617ac8964062ca2aeb3220bbd0e63aadd3c66b577fb94b25c0864eaaf8 | ATTACHMENTS
postman-key            | PMAK- | [0-9a-f]{24}-[0-9a-f]{34} | PM·AK-fbcb768c0b5157294f6068df-d4adce908914c7cb74d269f6fe1799ec43 | PMAK-x
mapbox-token           | sk. | eyJ[\w-]{20,}+\.[\w-]{20,30}+ | s·k.eyJc_8f2bAxj1daJpIAlfJ5ZN10.Evwkrq39LkiqokQCPssqdHDWE | sk.eyJ
dropbox-token          | sl. | [\w-]{60,}+ | s·l.xYQhalB3ejidS1zDOY0QpzVn-dWQlJFe3BA_ixUuIvePihmg0h7xu43WtvjB2YVv | sl.an-example-of-a-name-that-only-has-words-in-it-and-never-ends-it-seems
contentful-token       | CFPAT- | [\w-]{43} | CFP·AT-6LW_BcIr74pwyRVBSADysQPtBQPBh9Q8nHeHNFF-jrY | CFPAT-an-example-of-a-name-that-only-has-words-in-it
adafruit-key           | aio_ | [^\W_]{28} | ai·o_fL3hvwDilcqIZWztDKRbze1uRAV6 | aio_read_and_aio_write_calls
frameio-token          | fio-u- | [\w-]{64} | fio·-u-5OMp6-MYbEWbeshX_3QiZuN54gfv9hSsMJcdXXOtHPa_DObGa144bpan1TpKCTK0 | fio-u-x
jd-key                 | JDC_ | [A-Z0-9]{28} | JD·C_N5TBGNM9RN3H17SD1VYRVVLUYZYI | JDC_REGION
age-key                | AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1 | [A-Z0-9]{50,}+ | AGE-SECR·ET-KEY-1USEHMENJ7B3X011G8LWXS23JRCOB9IMU5XYXZG3P8BE848E04N024Z | AGE-SECRET-KEY-1...
"""

# Known by what stands in them, or right before them: kind | literal | what follows it | what of the credential stands before it |
# example | look-alike. Where what follows has a group, that alone is the credential.
INNER_LINES = r"""
azure-client-secret | Q~ | [\w.~-]{31,34} | [\w.~-]{3}[0-9] | x7k8Q·~5SdESgtf167WKdEWWbaf7hyE4iqXfkb9o | LGPQ~ and other licences
azure-key | JQQJ99 | [^\W_]{18,26}(?![^\W_]) | [^\W_]{52} | Fx8SLEq0gMsrClKebif2FQWk6xCERVmZAp121u4W8U9DUWGFy1xUJQQ·J99IRtePiwWd4KIPdbSKNAZDOZqj8 | JQQJ99 stands in every key of this sort
azure-shared-key | AccountKey= | ([A-Za-z0-9+/]{40,88}={1,2}) |  | Account·Key=dHN9fSfDN2dVjz+2eacXcYZ07O0IQeJ/yTlEIXuEmK8yQJmSnN/tQvPmGYnwokQ1HCtp8ERrlasAHNS4ZRZIE6== | AccountKey=from-the-portal
azure-shared-key | SharedAccessKey= | ([A-Za-z0-9+/]{40,88}={1,2}) |  | SharedAccess·Key=5y3BWbM8C3Rbev+QM3wjC6kFswf6qYlBbLGBmOc7ENB= | SharedAccessKey=from-the-portal
signed-url | ignature= | ([A-Za-z0-9%/+_-]{32,}+={0,2}) |  | https://x.test/f?X-Amz-Sig·nature=00b748d889d0a9b2dc4f0813ab73876675174cfb57b3c0f8c9d613bf37c43c15 | Signature=of-both-parents-on-the-form-of-the-school
signed-url | sig= | ([A-Za-z0-9%/+_-]{32,}+={0,2}) |  | https://x.test/f?sv=1&s·ig=KE6DzlYdawXpDfr61f7Diw7lV64U5hR7GarBzSkaO9D%3D | sig=HMAC
terraform-token | .atlasv1. | [\w-]{60,}+ | [^\W_]{14} | QSPXbRBxXi5YZ4.atlas·v1.nK4HQgPbFbtgrhQGVYSLGVAxybmMyAfj2Xw4JUj7CiedaWXqs4o3ZzCzwRQ9htGX9Yf | x.atlasv1.y
newrelic-key | NRAL | (?![^\W_]) | [0-9a-f]{36} | c36106e40b413ee77b56cae9dd3a8236f0ffNR·AL | NRAL stands at the end
firebase-key | :APA91b | [\w-]{100,}+ | [\w-]{8,20} | C7F8y0Gb5QJ:APA·91bBa2dgWsuqCWuiIv3dzAYlXIZYFSiUnIk6yOFQmVyN5OUED4DctDbgJk6htfxaLigvhp6tROPCBOicgbCfCJoPFtGcHk6IGnejvk2sAxwlQZJoVcQBl8etOcVak2c1kxsONkqE4 | it:APA91b
mailchimp-key | -us | [0-9]{1,2}(?![^\W_]) | [0-9a-f]{32} | 7acad6b131d27542778ae88264b273e2-u·s14 | made-in-us14
telegram-token | :AA | [\w-]{33}(?![^\W_]) | [0-9]{8,10} | 6361734696:A·AGfkl1bYuVC4ykwKjN0a8uJ5M6T3VFoNZd | 12:AAA batteries
discord-token | . | [\w-]{6}\.[\w-]{27,40} | [MNO][\w-]{23,27} | MXzmgUAcocrjzeaP6Sh7Z6xG·.L96ubK.Ue3fQW8rFgR75ah95TVAM4ByrCKoinhjAVyPEH | My.module.of_everything
discord-webhook | discord.com/api/webhooks/ | [0-9]{16,20}/([\w-]{60,}+) |  | https://discord.com/api/webhooks·/926336913925327867/s1vnLlZy2N8kpLoIpPX4Slp4OhPsUeZs87qYz7AP5cF674LU1CbW0DNc5DksqxBRYfJV | https://discord.com/api/webhooks/documentation
discord-webhook | discordapp.com/api/webhooks/ | [0-9]{16,20}/([\w-]{60,}+) |  | https://discordapp.com/api/webhooks·/441526196253488676/c7hVF1oU3qr0CyJTa9CaKAwJfOtRrt9ZMviKBYaJbFyxdrhpVq0x9hIhRkw2pyhSHwOM | https://discordapp.com/api/webhooks/documentation
slack-webhook | hooks.slack.com/ | (?:services|workflows|triggers)/([A-Za-z0-9/_]{20,}+) |  | https://hooks.slack.com/serv·ices/T25MNhajI/BZQwr4c7W/kZMBh8CVfIgiTKEbZSawLtAj | https://hooks.slack.com/services/documentation
teams-webhook | .webhook.office.com/ | webhookb2/([\w@/-]{60,}+) |  | https://acme.webhook.office.com/webhook·b2/c4e6f13c-316c-bb87-4649-eae385e4820e@54e12094-3fd7-a2bc-6a51-42a5c992869f/IncomingWebhook/bda419101fb762880146ef0d38c6bc43/fa317ad1-d39f-7591-1c58-4a0148aa34dd | https://acme.webhook.office.com/webhookb2/
zapier-webhook | hooks.zapier.com/ | hooks/catch/([0-9]{4,}+/[a-z0-9]{6,}+) |  | https://hooks.zapier.com/hooks/cat·ch/4827156/b3x9k2q | https://hooks.zapier.com/hooks/catch/
wecom-webhook | qyapi.weixin.qq.com/cgi-bin/webhook/send?key= | ([0-9a-f-]{36}) |  | https://qyapi.weixin.qq.com/cgi-bin/webhook·/send?key=8da2d12c-ebc4-6d61-4153-51f15e87bf48 | https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=KEY
dingtalk-webhook | oapi.dingtalk.com/robot/send?access_token= | ([0-9a-f]{64}) |  | https://oapi.dingtalk.com/robot·/send?access_token=71717cc1649da20262142bfa32fd7afb99576aa0da8e74349859cef4d471aabd | https://oapi.dingtalk.com/robot/send?access_token=TOKEN
feishu-webhook | open.feishu.cn/open-apis/bot/v2/hook/ | ([0-9a-f-]{36}) |  | https://open.feishu.cn/open-apis/bot·/v2/hook/2198456b-7430-9362-9e97-35aa8c7de3b6 | https://open.feishu.cn/open-apis/bot/v2/hook/x
feishu-webhook | open.larksuite.com/open-apis/bot/v2/hook/ | ([0-9a-f-]{36}) |  | https://open.larksuite.com/open-apis/bot·/v2/hook/f049e32d-507b-bfd3-0b87-d272983c404c | https://open.larksuite.com/open-apis/bot/v2/hook/x
"""
