"""Words that carry no topic, by language: grammar, question words and the phrases of asking."""

_LISTS = {
    "en": """
        a about above across after again all almost also although always am among an and any
        are as at be because been before being below between both but by can cannot could did
        do does doing done down during each either else ever every few for from further get
        give given had has have having he her here hers him his how however i if in into is isn
        it its itself just know less let like made make many may me might more most much must
        my need neither no nor not now of off often on once one only onto or other our out over
        own per please quite rather really s same shall she should since so some still such t
        than that the their them then there these they this those though through thus to too
        toward towards under until up upon us use used using very via was we well were what
        when where whether which while who whom whose why will with within without would yes
        yet you your tell explain describe summarize summarise say says said show shows find
        finds found anything something kind sort exactly actually there's what's don doesn didn
        aren someone somebody anyone anybody everyone everybody nobody anyway whose
        """,
    "de": """
        aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim
        bin bis bist da dabei dadurch dafür damit dann daran darauf daraus das dass davon dazu
        dein dem den denn der deren des dessen die dies diese diesem diesen dieser dieses doch
        dort du durch ein eine einem einen einer eines einige er es etwas euch für gab gegen
        gegenüber gibt hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr
        ihre ihrem ihren ihrer im immer in indem ins ist ja jede jedem jeden jeder jedes jetzt
        kann kein keine keinen können könnte machen man mehr mein mich mir mit muss müssen nach
        nicht nichts noch nun nur ob oder ohne sagen sagt sehr sein seine seinem seinen seiner
        seit sich sie sind so solche soll sollen sollte sondern sonst über um und uns unser
        unter viel vom von vor war waren warum was weil welche welchem welchen welcher welches
        wenn wer werden wessen wie wieder will wir wird wirken wirkt wo wodurch wofür womit
        worin worden wurde wurden würde zu zum zur zwar zwischen wieso weshalb erkläre
        beschreibe bitte zeigen zeigt
        """,
    "fr": """
        à ai ainsi alors après au aucun aucune aujourd aussi autre autres aux avait avant avec
        avez avoir ayant bien c ça car ce ceci cela celle celles celui cependant ces cet cette
        ceux chaque chez comme comment d dans de des depuis dès deux dire dit doit donc dont du
        elle elles en encore entre es est et était étaient étant été être eu eux fait faire
        faut ici il ils j je jusqu l la le les leur leurs lors lorsque lui m ma mais me même
        mes mon n ne ni non nos notre nous on ont ou où par parce pas pendant peu peut peuvent
        plus plutôt pour pourquoi pouvez qu quand que quel quelle quelles quels qui quoi s sa
        sans se sera ses si sinon soit son sont sous sur t ta tandis te tel telle telles tels
        tes ton tous tout toute toutes très tu un une vers via vos votre vous y existe
        expliquer expliquez décrire montrer montre montrent savoir sait
        """,
    "es": """
        a acerca al algo algún alguna algunas algunos ante antes aquel aquella así aun aún
        aunque bajo bien cada casi como cómo con contra cual cuál cuales cuáles cualquier
        cuando cuándo cuanto cuánto de del desde donde dónde durante e el él ella ellas ellos
        en entre era eran es esa esas ese eso esos esta está están estas este esto estos fue
        fueron ha haber había hace hacer hacia han hasta hay he la las le les lo los más me mi
        mí mientras mucho muy nada ni no nos nosotros o otra otras otro otros para pero poco
        por porque pueda puede pueden pues que qué quien quién se sea según ser si sí sido
        siempre sin sino sobre son su sus tal también tampoco tan tanto te tener ti tiene
        tienen toda todas todo todos tu tú tus un una unas uno unos usted vosotros y ya yo
        explica explique describe dice dicen muestra muestran
        """,
    "it": """
        a ad agli ai al alcuna alcuni all alla alle allo anche ancora avere aveva c che chi ci
        ciò come con contro cosa così cui d da dagli dai dal dall dalla dalle dallo de degli
        dei del dell della delle dello dentro deve di dopo dove due durante e è ed era erano
        essere fa fare fino fra già gli ha hanno ho i il in io l la le lei li lo loro lui ma
        mai me mentre mi mio molto ne negli nei nel nell nella nelle nello no noi non nostro o
        ogni oltre per perché però più poi possono prima può qual quale quali quando quanto
        quella quelle quelli quello questa queste questi questo qui se sei sempre senza si sia
        sono sopra sotto stato su sua sue sugli sui sul sull sulla sulle sullo suo suoi tale
        tali tra tu tutte tutti tutto un una uno va verso vi via voi spiega descrivi dice
        dicono mostra mostrano
        """,
    "pt": """
        a à ainda além algo algum alguma algumas alguns ante antes ao aos apenas após aquela
        aquele aqueles as às até cada com como contra cuja cujo da das de dela dele deles
        depois desde dessa desse desta deste do dos durante e é ela elas ele eles em enquanto
        entre era eram essa essas esse esses esta está estão estas este estes eu existe faz
        fazer foi foram há isso isto já lhe mais mas me mesmo meu muito na não nas nem nessa
        nesse nesta neste no nos nós nossa nosso num numa o onde os ou para pela pelas pelo
        pelos pode podem pois por porque porquê qual quais qualquer quando quanto que quê quem
        se seja sem sempre ser seu seus sido sob sobre sua suas são só também tão te tem têm
        ter teu toda todas todo todos tu um uma umas uns vai você vocês explique descreva diz
        dizem mostra mostram
        """,
    "nl": """
        aan achter al alle alleen als altijd andere anders ben bij binnen bovendien buiten daar
        daarom dan dat de deze die dit doen doet door dus een eens elk elke en er geen gaat
        gedaan had hadden hebben heeft hem het hier hij hoe hoeveel hun iets ik in is ja je jij
        kan kon kunnen maar me meer men met mijn moet moeten na naar nee niet niets nog nu of
        om omdat onder ons onze ook op over per te tegen toch toen tot tussen tijdens uit uw
        van vanaf veel via volgens voor waar waarom wanneer waren was wat we wel welk welke wie
        wij wil worden wordt zal ze zeer zegt zich zij zijn zo zoals zonder zou leg beschrijf
        toont tonen bestaat
        """,
    "ru": """
        а без более больше будет будто бы был была были было быть в вам вас весь во вот все всё
        всего всех вы где да даже для до его ее её ей если есть еще ещё же за здесь и из или им
        их к как какая какие каким какой каково какова каковы какое каких когда кого ко который
        которая которое которые которых которым кто ли между меня мне можно мой мы на над надо
        нас не него неё нет ни них но ну о об однако он она они оно от очень по под после потом
        потому почему при про раз с сам себя сейчас со собой так такая такие такой там тем то
        тогда того тоже только том тот ту ты у уже хотя чего чем через что чтобы чьи чья эта
        эти это этого этой этом этот эту я является являются расскажи опиши объясни пожалуйста
        показывают говорят известно
        """,
    "ar": """
        في من على إلى عن مع هذا هذه ذلك تلك التي الذي الذين اللذان ما ماذا متى أين كيف لماذا هل
        كم أي أية أو و ثم لكن لا لم لن ليس ليست إن أن إذا لو قد كان كانت كانوا يكون تكون هو هي
        هم هن نحن أنا أنت بين بعد قبل عند عندما حيث كل بعض غير أكثر أقل أيضا أيضاً فقط حتى منذ
        خلال حول ضد دون تحت فوق هناك هنا به بها له لها لهم فيه فيها عليه عليها منه منها عنه
        عنها كما مثل أما إما بل يوجد توجد يمكن اشرح صف وما وهل
        """,
    "zh": """
        的 了 是 在 和 与 及 或 对 对于 关于 有 没有 不 也 都 就 而 但 但是 如果 因为 所以 什么
        哪些 哪个 哪 怎么 怎样 如何 为什么 为何 是否 吗 呢 吧 请 我 你 您 他 她 它 们 我们 这
        那 这些 那些 这个 那个 其 之 之间 中 上 下 从 到 向 被 把 让 使 以 于 等 更 最 很 多少
        几 还 又 并 并且 可以 能 会 要 请问 有没有 告诉 解释 说明 一 一个 一些 有何 有什么 哪种
        時 對 對於 關於 沒有 什麼 怎麼 為什麼 嗎 請 與
        """,
    "ja": """
        の に は を た が で て と し れ さ ある いる も する から な こと として い や など
        なっ ない この ため その あっ よう また もの という あり まで られ なる へ か だ これ
        によって により おり より による ず なり られる において ば なかっ なく しかし について
        せ だっ できる それ う ので なお のみ でき き つ における および いう さらに でも ら
        たり 何 なに なぜ どう どの どのような どのように どれ 誰 いつ どこ ですか ますか
        ください 教えて 説明 何か です ます した して
        """,
    "ko": """
        이 그 저 것 수 등 및 또는 그리고 그러나 하지만 에 에서 에게 의 을 를 은 는 가 와 과 도
        로 으로 만 까지 부터 보다 처럼 대한 대해 대하여 관한 관해 위한 위해 통해 따라 있는 있다
        있습니까 있나요 없는 없다 하는 한다 합니까 하나요 무엇 무엇인가 무엇인가요 무엇입니까
        왜 어떻게 어떤 어느 누가 언제 어디 얼마나 인가 인가요 입니까 되는 된다 됩니까 설명
        설명해 알려줘 알려주세요 해줘 주세요 미치는 미치나요 줍니까 주나요
        """,
}

STOP_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split()) for language, words in _LISTS.items()
}
