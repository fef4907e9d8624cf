#!/bin/sh
# A ClickHouse for a page, in the folder where it is called: table.sh ADDRESS
set -eu
cat >table.xml <<END
<yandex>
    <logger><level>warning</level><console>1</console></logger>
    <http_port>8123</http_port>
    <tcp_port>9000</tcp_port>
    <listen_host>$1</listen_host>
    <path>$PWD/table-data/</path>
    <tmp_path>$PWD/table-tmp/</tmp_path>
    <users_config>users.xml</users_config>
    <default_profile>default</default_profile>
    <default_database>default</default_database>
    <mark_cache_size>67108864</mark_cache_size>
    <timezone>UTC</timezone>
</yandex>
END
cat >users.xml <<END
<yandex>
    <profiles><default/></profiles>
    <users><default><password></password><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota></default></users>
    <quotas><default/></quotas>
</yandex>
END
mkdir -p table-data table-tmp
exec clickhouse-server --config-file=table.xml
